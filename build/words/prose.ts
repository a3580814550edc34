import { marked, type Token, type Tokens } from 'marked';

/** A piece of text that is read at once: a paragraph, a list item, a cell of a table, a comment. */
export interface Passage {
  /** The file, from the project's root. */
  readonly file: string;
  /** The line in the file on which the passage begins, from 1. */
  readonly line: number;
  /** Plain text. Code is one word: `x`. */
  readonly text: string;
}

/** The passages of a Markdown page. Headings and code blocks are not sentences, so they are left out. */
export function passagesOfPage(file: string, page: string): Passage[] {
  const passages: Passage[] = [];
  let at = 0;
  const add = (raw: string, tokens: readonly Token[] | undefined) => {
    const found = page.indexOf(raw.split('\n')[0] ?? '', at);
    if (found >= 0) at = found;
    passages.push({ file, line: page.slice(0, at).split('\n').length, text: textOf(tokens ?? []) });
  };
  const visit = (token: Token): void => {
    if (token.type === 'paragraph' || token.type === 'text')
      add(token.raw, (token as Tokens.Paragraph).tokens);
    else if (token.type === 'list')
      for (const item of (token as Tokens.List).items) item.tokens.forEach(visit);
    else if (token.type === 'blockquote') (token as Tokens.Blockquote).tokens.forEach(visit);
    else if (token.type === 'table') {
      const { header, rows } = token as Tokens.Table;
      for (const cell of [header, ...rows].flat()) add(cell.text, cell.tokens);
    }
  };
  marked.lexer(page).forEach(visit);
  return passages.filter(({ text }) => text !== '');
}

function textOf(tokens: readonly Token[]): string {
  return tokens
    .map(token => {
      if (token.type === 'codespan') return 'x';
      if (token.type === 'html') return '';
      if (token.type === 'br') return ' ';
      const { tokens: inner } = token as Tokens.Generic;
      return inner ? textOf(inner) : ((token as Tokens.Text).text ?? '');
    })
    .join('')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

const commentLine = /^\s*\/\/ ?(.*)$/;
const docComment = /^[ \t]*\/\*\*?([\s\S]*?)\*\//gm;
const testName = /\b(?:test|it|describe)(?:\.\w+)?\(\s*'((?:[^'\\]|\\.)+)'/g;

/** The passages of a TypeScript file: comments that begin a line, and the names of tests. */
export function passagesOfCode(file: string, code: string): Passage[] {
  const lineOf = (index: number) => code.slice(0, index).split('\n').length;
  const docs = [...code.matchAll(docComment)].flatMap(({ 0: raw, 1: body = '', index }) =>
    body
      .split('\n')
      .map(line => line.replace(/^\s*\* ?/, ''))
      .join('\n')
      .split(/\n\s*\n|^\s*@\w+ ?(?:\w+ - |\w+ (?=[a-z]))?|^- /m)
      .map(text => ({ file, line: lineOf(index + raw.search(/\S/)), text: plain(text) })),
  );
  const comments: Passage[] = [];
  let open: { line: number; text: string[] } | null = null;
  for (const [index, line] of [...code.split('\n'), ''].entries()) {
    const text = commentLine.exec(line)?.[1];
    if (text !== undefined) {
      open ??= { line: index + 1, text: [] };
      open.text.push(text);
    } else if (open !== null) {
      comments.push({ file, line: open.line, text: plain(open.text.join('\n')) });
      open = null;
    }
  }
  const names = [...code.matchAll(testName)].map(({ 1: text = '', index }) => ({
    file,
    line: lineOf(index),
    text: plain(text.replaceAll("\\'", "'")),
  }));
  const isProse = ({ text }: Passage) =>
    text !== '' && !/^(biome-ignore|guard:|by hand:|promise|@ts-|\/ )/.test(text);
  return [...docs, ...comments, ...names].filter(isProse);
}

function plain(text: string): string {
  return text
    .replaceAll(/\{@link ([^}]*)\}/g, 'x')
    .replaceAll(/`[^`]*`/g, 'x')
    .replaceAll(/https?:\/\/\S+/g, 'x')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
