/** Breaks a text at spaces into lines of at most `width` characters; a longer word is not broken. */
export function wrap(text: string, width: number, indent = ''): string[] {
  const [first = '', ...words] = text.split(' ');
  const lines: string[] = [];
  let line = first;
  for (const word of words)
    if (line.length + 1 + word.length <= width) line += ` ${word}`;
    else {
      lines.push(line);
      line = indent + word;
    }
  return [...lines, line];
}
