import { html as template } from 'htm/preact';
import type { ComponentChildren } from 'preact';

/** Something that can stand in a page. */
export type Html = ComponentChildren;

/**
 * A template of HTML. What is put into it is text and is escaped, always; only the charts and the style sheet, which docmirror
 * makes itself, go in as they are.
 */
export const html: (strings: TemplateStringsArray, ...values: unknown[]) => Html = template;
