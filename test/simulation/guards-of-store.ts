import type { Edit, Guard } from './guard.ts';

const shortcuts = 'src/store/write/shortcuts.ts';
const listMirror = 'src/store/write/list-mirror.ts';
const writer = 'src/store/write/list-writer.ts';

/** The rows need not come to what was read. */
export const gateOff: Edit = {
  file: 'src/proof/gate.ts',
  text: 'if (read?.equals(rows)) return;',
  instead: 'if (read !== undefined) return;',
};

/** A page that comes again for the one after the last ends the list. */
export const openEndOff: Edit = {
  file: 'src/sync/read-list.ts',
  text: "if (verdict.kind === 'proven' && isEndOpen(walks, itemsOf)) {",
  instead: 'if (false) {',
};

/** Known pages are believed, whatever their hashes say. */
const pageHashOff: Edit = {
  file: shortcuts,
  text: 'if (!this.#checkOfPage(place, hex, itemCount, sum, runId).equals(check)) continue;',
  instead: '',
};

/** The guards of the rooms that write the mirror. */
export const guardsOfStore: readonly Guard[] = [
  {
    name: 'known-pages-say-the-same',
    holds: 'pages are known only where they say of connections what was believed',
    off: [
      {
        file: writer,
        text: 'return said.equals(claims) ? knownPages : null;',
        instead: 'return knownPages;',
      },
    ],
    breaks: 'misnamed',
  },
  {
    name: 'names-by-all-pages',
    holds: 'some pages tell no name that another page may give',
    off: [
      {
        file: writer,
        text: "if (order.kind !== 'seen' && !isWhole && connections.needsWhole(list.resource, claims))",
        instead: 'if (false)',
      },
    ],
    breaks: 'misnamed',
  },
  {
    name: 'commit-gate',
    holds: 'rows that do not come to what was read are not committed, also where a shortcut lies',
    off: [gateOff],
    behind: [pageHashOff, openEndOff],
    breaks: 'lost',
  },
  {
    name: 'hash-of-known-pages',
    holds: 'a known page that fits not its hash is not there, also where nothing else would tell',
    off: [pageHashOff],
    behind: [gateOff, openEndOff],
    breaks: 'lost',
  },
  {
    name: 'hash-of-list-states',
    holds: 'what was learnt of a list and fits not its hash was not learnt',
    off: [
      {
        file: shortcuts,
        text: 'if (row === undefined || !this.#check(row.runId, row.state).equals(row.check)) return nothingLearnt;',
        instead: 'if (row === undefined) return nothingLearnt;',
      },
    ],
    breaks: 'lost',
  },
  {
    name: 'multisets',
    holds: 'a row counts for one record, however many have the same content',
    off: [
      {
        file: 'src/store/write/list-comparison.ts',
        text: "if (this.#table.list.identity.by === 'id') return false;",
        instead: 'return true;',
      },
    ],
    breaks: 'not-healed',
  },
  {
    name: 'others-amid-a-run',
    holds: 'what another program writes during a run is looked at by that run or the next one',
    off: [
      {
        file: 'src/store/file/other-writers.ts',
        text: 'return this.#version !== before;',
        instead: 'return false;',
      },
    ],
    breaks: 'invented',
  },
  {
    name: 'unproven-is-no-reading',
    holds: 'a mirror that an unproven run wrote is no first reading',
    off: [
      {
        file: listMirror,
        text: "if (sinceSweep.at(-1)?.completeness !== 'proven') return false;",
        instead: 'if (sinceSweep.length === 0) return false;',
      },
    ],
    breaks: 'lost',
  },
  {
    name: 'withheld-is-no-reading',
    holds: 'a mirror from which removals were withheld is no first reading',
    off: [{ file: listMirror, text: ' && each.removalsWithheld === 0,', instead: ',' }],
    breaks: 'lost',
  },
  {
    name: 'unproven-replaces-nothing',
    holds: 'in a list without ids, an unproven run replaces no content',
    off: [
      {
        file: 'src/store/write/seen-rows.ts',
        text: 'if (record.id === null) marks.mark(this.#writer.insert(record));',
        instead: `const isVersion = (id: number) =>
      [2, 6, 7].every(at => this.#table.read(id).record.scalars[at] === record.scalars[at]);
    const version = record.id === null ? [...this.#table.ids()].find(isVersion) : undefined;
    if (version !== undefined) this.#writer.update(version, record);
    else if (record.id === null) marks.mark(this.#writer.insert(record));`,
      },
    ],
    breaks: 'removed-wrongly',
  },
];
