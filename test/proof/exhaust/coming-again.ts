import type { WorldRecord } from './records.ts';
import type { SmallWorldOptions } from './small-world.ts';

/** What is added to the number of a text if the other node writes it. */
export const ofOtherNode = 10_000;

/** Every list in which a record that went comes again, as it was or with another text; or one that is listed is exported again. */
export function comingAgain(
  list: readonly WorldRecord[],
  gone: readonly WorldRecord[],
  { comesAgain, isExportedAgain, isDown }: SmallWorldOptions,
  newText: () => number,
): WorldRecord[][] {
  const made: WorldRecord[][] = [];
  for (const { id, key, content, identity = content } of comesAgain === true ? gone : []) {
    if (list.some(other => other.id === id)) continue;
    const isBefore = (other: WorldRecord) => (isDown ? other.key >= key : other.key <= key);
    for (let at = 0; at <= list.length; at++) {
      if (!list.every((other, place) => Number.isNaN(key) || isBefore(other) === place < at)) continue;
      const again = { id, key, identity };
      made.push(list.toSpliced(at, 0, { ...again, content }));
      made.push(list.toSpliced(at, 0, { ...again, content: newText() }));
    }
  }
  for (const [at, record] of isExportedAgain === true ? list.entries() : []) {
    const others = list.toSpliced(at, 1);
    const key = Math.max(...list.map(other => other.key)) + 256;
    const { content, identity = content, exports = 0 } = record;
    // With another id or time it is another record of the mirror, with a text of its own.
    const again = { ...record, key, content: newText(), identity, exports: exports + 1 };
    if (at !== (isDown ? 0 : others.length)) made.push(isDown ? [again, ...others] : [...others, again]);
  }
  return made;
}

/** A record as the other node writes it. */
export function otherwise(record: WorldRecord): WorldRecord {
  return { ...record, content: record.content + ofOtherNode, identity: record.identity ?? record.content };
}
