/** Whether references rise with the records, so that any index of them grows at its end, or come as in the field, at random. */
export type References = 'in order' | 'at random';

/** One document export of the bench's service, as JSON text; the same `n` always gives the same text. */
function exportText(n: number, references: References, title = 'Quarterly report'): string {
  const source = 1 + (n % 7);
  const destination = 101 + (n % 5);
  const at = new Date(1_600_000_000_000 + n * 1000).toISOString();
  // An odd factor gives each number another one of 32 bits.
  const reference = references === 'in order' ? n : Math.imul(n, 0x9e3779b1) >>> 0;
  return (
    `{"sourceConnection":{"id":${source},"name":"Source ${source}"},"sourceDocumentTitle":"${title} ${n}",` +
    `"sourceDocumentReference":"DOC-${reference}","sourceDocumentVersion":"${1 + (n % 3)}.0","sourceDocumentKind":"report",` +
    `"destinationConnection":{"id":${destination},"name":"Destination ${destination}"},` +
    `"destinationReference":"archive/2026/${n % 97}/${n}.pdf","exportedAt":"${at}"}`
  );
}

/** The state of the bench's list; a sync is measured for each of them. */
export type ListState = 'base' | 'changed' | 'appended' | 'shifted' | 'hundred-new';

/**
 * The records of the list in a state, in their order. In `changed`, 1 % of the records have another title, spread evenly.
 * In `shifted`, there is one new record at the front. In `hundred-new`, there are 100 more at the end. In `appended`, there
 * are 1 % more after those.
 */
export function listIn(
  state: ListState,
  count: number,
  references: References,
): { length: number; textAt(at: number): string } {
  const textAt = (at: number) => exportText(at, references);
  if (state === 'changed') {
    const title = (at: number) => (at % 100 === 50 ? 'Corrected report' : undefined);
    return { length: count, textAt: at => exportText(at, references, title(at)) };
  }
  const hundredMore = { length: count + 100, textAt };
  if (state === 'appended') return { ...hundredMore, length: hundredMore.length + Math.floor(count / 100) };
  if (state === 'shifted') return { length: count + 1, textAt: at => textAt(at === 0 ? count : at - 1) };
  if (state === 'hundred-new') return hundredMore;
  return { length: count, textAt };
}
