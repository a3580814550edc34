/** How wide the terminal is, in characters; `otherwise` where there is none, or it does not say. */
export function terminalWidth(stream: NodeJS.WriteStream, otherwise = Number.POSITIVE_INFINITY): number {
  return stream.columns || otherwise;
}

const summaryWidthMax = 76;

/** On a terminal no wider than is read at a glance; elsewhere, where lines are searched, they are not broken. */
export function summaryWidth(stream: NodeJS.WriteStream): number {
  const width = terminalWidth(stream);
  return width === Number.POSITIVE_INFINITY ? width : Math.min(width, summaryWidthMax);
}
