/** Breaks a text into lines of at most `width` characters, where it has spaces: a longer word stays whole. */
export function wrap(text: string, width: number, indent = ''): string[] {
  const [first = '', ...words] = text.split(' ');
  const lines: string[] = [];
  let line = first;
  for (const word of words) {
    if (line.length + 1 + word.length <= width) {
      line = `${line} ${word}`;
      continue;
    }
    lines.push(line);
    line = indent + word;
  }
  return [...lines, line];
}
