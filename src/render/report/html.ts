import { html as template } from 'htm/preact';
import type { ComponentChildren } from 'preact';

/** A part of a page. */
export type Html = ComponentChildren;

/** A template of HTML. Values are text and are always escaped, except the style sheet, which docmirror makes itself. */
export const html: (strings: TemplateStringsArray, ...values: unknown[]) => Html = template;
