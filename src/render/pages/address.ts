/** The parameters of a page, as they are in its address. */
export type Parameters = Readonly<Record<string, string>>;

/** The query of an address with some parameters changed. A null removes one, and the page begins at the start again. */
export function queryWith(parameters: Parameters, changes: Readonly<Record<string, string | null>>): string {
  const merged: [string, string | null][] = Object.entries({
    ...parameters,
    after: null,
    before: null,
    ...changes,
  });
  return `?${new URLSearchParams(merged.filter((entry): entry is [string, string] => entry[1] !== null))}`;
}
