/** The width of the terminal, in characters; infinite if there is none, or its width is unknown. */
export function terminalWidth(stream: NodeJS.WriteStream): number {
  return stream.columns || Number.POSITIVE_INFINITY;
}

const widthElsewhere = 120;

/** The width for changes. Without a terminal their lines are cut, too, because a record can be long. */
export function changesWidth(stream: NodeJS.WriteStream): number {
  return stream.columns || widthElsewhere;
}

const summaryWidthMax = 76;

/** The width for summaries: on a terminal easy to read; elsewhere infinite, because broken lines are hard to search. */
export function summaryWidth(stream: NodeJS.WriteStream): number {
  const width = terminalWidth(stream);
  return width === Number.POSITIVE_INFINITY ? width : Math.min(width, summaryWidthMax);
}
