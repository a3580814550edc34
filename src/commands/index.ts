import type { Command } from './command.ts';

/** One sentence that says what docmirror is. */
export const purpose = 'Keeps a complete, provable copy of a Document Export Service in one SQLite file.';

/** The words that name a command, what it is for, and its declaration, which is loaded when the command is run. */
interface Entry {
  readonly description: string;
  readonly load: () => Promise<Command>;
}

/** All commands, in the order of the help. A command in a group has two words. */
export const commands: Readonly<Record<string, Entry>> = {
  sync: {
    description: 'Read the lists of the service and bring the mirror up to date: one run.',
    load: async () => (await import('./sync.ts')).sync,
  },
  watch: {
    description: 'Sync on a cron schedule, never two runs at once, until SIGTERM, SIGINT or SIGHUP.',
    load: async () => (await import('./watch.ts')).watch,
  },
  doctor: {
    description: 'Try everything that a run needs, in order, and say what was found and what to do.',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  status: {
    description:
      'Show how fresh each list is, its last run, its record count and how complete it is. With several mirrors: one line each.',
    load: async () => (await import('./status.ts')).status,
  },
  runs: {
    description: 'Show the run history, the newest run first.',
    load: async () => (await import('./runs.ts')).runs,
  },
  changes: {
    description: 'Show what was inserted, updated and removed: by the last run, or since a run or a time.',
    load: async () => (await import('./changes.ts')).changes,
  },
  query: {
    description: 'Run one SQL statement that reads, and print its rows.',
    load: async () => (await import('./query.ts')).query,
  },
  show: {
    description:
      'Show one record: its current text, and each version that it ever had, with the runs that changed it.',
    load: async () => (await import('./show.ts')).show,
  },
  rejected: {
    description: 'Show the records that could not be read: why, how many, and their text.',
    load: async () => (await import('./runs.ts')).rejected,
  },
  report: {
    description:
      'Write one HTML page on a period: what needs attention, exports against the period before, what changed, and how complete the lists are.',
    load: async () => (await import('./report.ts')).report,
  },
  serve: {
    description:
      "Serve the mirror over HTTP, read-only, in the service's own shape; for browsers a report, lists with filters, records, a search.",
    load: async () => (await import('./serve.ts')).serve,
  },
  verify: {
    description:
      "Audit the mirror: SQLite's own checks, every row, the history and the runs' records; with --live also the service.",
    load: async () => (await import('./verify.ts')).verify,
  },
  share: {
    description: 'Make a copy of the mirror that everybody can read, and put it in its place in one step.',
    load: async () => (await import('./share.ts')).share,
  },
  backup: {
    description: 'Copy the mirror while it is in use, and prove the copy before it gets its name.',
    load: async () => (await import('./backup.ts')).backup,
  },
  erase: {
    description: "Remove the text of a record's ended versions for good, and write a receipt about it.",
    load: async () => (await import('./erase.ts')).erase,
  },
  export: {
    description: 'Write the lists, as they are or were, into files for other tools.',
    load: async () => (await import('./export.ts')).exportMirror,
  },
  'publish clickhouse': {
    description: 'Insert the new runs into ClickHouse, and compare what arrived with the mirror.',
    load: async () => (await import('./publish.ts')).publishClickhouse,
  },
  'audit keygen': {
    description:
      'Write a private key, for its owner alone, never over an existing file, and print the public one.',
    load: async () => (await import('./audit.ts')).keygen,
  },
  'audit checkpoint': {
    description: 'Print a signed checkpoint of all receipts.',
    load: async () => (await import('./audit.ts')).checkpoint,
  },
  'audit receipts': {
    description: 'List the receipts, the oldest first.',
    load: async () => (await import('./audit.ts')).receipts,
  },
  completion: {
    description: 'Print a script that completes commands and flags in a shell.',
    load: async () => (await import('./completion.ts')).completionOf(loadCommands),
  },
  demo: {
    description:
      'Show everything without settings: mirror a sample service into docmirror-demo.sqlite, a run a day for two weeks, with a share.',
    load: async () => (await import('./demo.ts')).demo,
  },
};

/** The purpose of each group of commands, by the name of the group. */
export const groups: Readonly<Record<string, string>> = {
  publish: 'Bring the mirror and its change feed into a database that all tenants share.',
  audit:
    "Receipts of all runs, and checkpoints that pin them: a mirror's history for those who trust no one.",
};

/** A command, found by its name. */
export interface Found extends Entry {
  readonly name: string;
}

/** The command that words begin with; null if they name none. */
export function findCommand([first = '', second = '']: readonly string[]): Found | null {
  const name = [`${first} ${second}`, first].find(each => Object.hasOwn(commands, each));
  const entry = name === undefined ? undefined : commands[name];
  return name === undefined || entry === undefined ? null : { name, ...entry };
}

/** The words that can follow the name of a group or, if it is empty, `docmirror`. */
export function wordsIn(group: string): string[] {
  const names = Object.keys(commands).map(name => name.split(' '));
  const words =
    group === '' ? names : names.filter(([head]) => head === group).map(([, inner = '']) => [inner]);
  return [...new Set(words.map(([word = '']) => word))];
}

/** All commands, loaded. */
export function loadCommands(): Promise<(Found & { readonly command: Command })[]> {
  const loading = Object.entries(commands).map(async ([name, entry]) => {
    return { name, ...entry, command: await entry.load() };
  });
  return Promise.all(loading);
}
