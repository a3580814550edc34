/** A line of a room around the core that guards something, and the tests that fail without it. */
export interface OuterMutant {
  readonly guards: string;
  readonly file: string;
  readonly line: string;
  readonly instead: string;
  readonly tests: readonly string[];
}

/** Each of these survived all tests of 0.4.0. */
export const outerMutants: readonly OuterMutant[] = [
  {
    guards: 'a search for a text with a backslash',
    file: 'src/store/read/records/filter.ts',
    line: "wanted.replace(/[\\\\%_]/g, '\\\\$&')",
    instead: "wanted.replace(/[%_]/g, '\\\\$&')",
    tests: ['test/store/read/records/filter.test.ts', 'test/store/read/records/search.test.ts'],
  },
  {
    guards: 'a time that a filter means, to the second',
    file: 'src/store/read/records/filter.ts',
    line: '? 86_400_000 : 1_000;',
    instead: '? 86_400_000 : 60_000;',
    tests: ['test/store/read/records/filter.test.ts'],
  },
  {
    guards: 'a record that has a field _id of its own',
    file: 'src/store/read/records/find.ts',
    line: "if (ownId !== null || (text.includes('\"_id\"') && '_id' in JSON.parse(text))) return text;",
    instead: 'if (ownId !== null) return text;',
    tests: ['test/store/read/records/filter.test.ts', 'test/serve/browse.test.ts'],
  },
  {
    guards: 'a cursor in the midst of the first run, against another mirror',
    file: 'src/store/read/history/position.ts',
    line: 'if (mirrorId === new ReceiptLog(sqlite).mirrorId()) return null;',
    instead: 'if (sqlite.open) return null;',
    tests: ['test/store/read/history/feed.test.ts'],
  },
  {
    guards: 'the token of an env file, against a token command of the environment',
    file: 'src/config/env-file.ts',
    line: 'filter(([name]) => !groups.has(groupOf(name)))',
    instead: 'filter(([name]) => !set.some(([other]) => other === name))',
    tests: ['test/config/env-file.test.ts'],
  },
  {
    guards: 'formulas with full-width signs in CSV',
    file: 'src/render/csv.ts',
    line: '[=+\\-@＝＋－＠]',
    instead: '[=+\\-@]',
    tests: ['test/render/csv.test.ts'],
  },
  {
    guards: 'labels with a backslash in metrics',
    file: 'src/serve/metrics.ts',
    line: 'text.replace(/[\\\\"]/g',
    instead: 'text.replace(/["]/g',
    tests: ['test/serve/metrics.test.ts'],
  },
  {
    guards: 'kilobytes of a thousand bytes',
    file: 'src/render/numbers.ts',
    line: '(bytes / 1_000 ** at)',
    instead: '(bytes / 1_024 ** at)',
    tests: ['test/render/numbers.test.ts'],
  },
  {
    guards: 'times before March 1900 in a spreadsheet',
    file: 'src/render/xlsx.ts',
    line: 'days >= 61',
    instead: 'days >= 0',
    tests: ['test/render/xlsx.test.ts'],
  },
  {
    guards: 'a terminal against bytes that are no text',
    file: 'src/commands/stream-out.ts',
    line: "(format === 'parquet' || format === 'xlsx') && stdout.isTTY",
    instead: "(format === 'parquet' || format === 'xlsx') && stdout.destroyed",
    tests: ['test/commands/query.test.ts'],
  },
  {
    guards: 'a share against free pages, with what was left out',
    file: 'src/store/copies/share.ts',
    line: "sqlite.exec('PRAGMA incremental_vacuum');",
    instead: '',
    tests: ['test/store/copies/share.test.ts'],
  },
  {
    guards: 'a mirror that was rewritten with its size and time of before',
    file: 'src/store/file/lock-file.ts',
    line: ', stat.ctimeNs]',
    instead: ']',
    tests: ['test/store/file/locks.test.ts'],
  },
  {
    guards: 'a connection that is quiet for less than five usual gaps',
    file: 'src/store/read/report-data.ts',
    line: 'const usualGaps = 5;',
    instead: 'const usualGaps = 2;',
    tests: ['test/commands/report.test.ts'],
  },
];
