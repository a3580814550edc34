/** How wide the terminal is, in characters; without bounds where there is none, or it does not say. */
export function terminalWidth(stream: NodeJS.WriteStream): number {
  return stream.columns || Number.POSITIVE_INFINITY;
}

const widthElsewhere = 120;

/** The same for changes: elsewhere their lines are cut, too, because a record can be long. */
export function changesWidth(stream: NodeJS.WriteStream): number {
  return stream.columns || widthElsewhere;
}

const summaryWidthMax = 76;

/** On a terminal no wider than is read at a glance; elsewhere, where lines are searched, they are not broken. */
export function summaryWidth(stream: NodeJS.WriteStream): number {
  const width = terminalWidth(stream);
  return width === Number.POSITIVE_INFINITY ? width : Math.min(width, summaryWidthMax);
}
