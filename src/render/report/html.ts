import { html as template } from 'htm/preact';
import type { ComponentChildren } from 'preact';

/** Something that can stand in a page. */
export type Html = ComponentChildren;

/**
 * A template of HTML. What is put into it is text and is escaped, always; only the style sheet, which docmirror makes itself, goes
 * in as it is.
 */
export const html: (strings: TemplateStringsArray, ...values: unknown[]) => Html = template;
