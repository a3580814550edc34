import { UsageError } from '../errors.ts';
import type { Command } from './command.ts';

/** One sentence that says what docmirror is. */
export const purpose = 'Keeps a complete, provable copy of a Document Export Service in one SQLite file.';

/** What each command is for, in the order of the help. A command in a group has two words. */
const descriptions = {
  sync: 'Read the lists of the service and bring the mirror up to date: one run.',
  watch: 'Sync on a cron schedule, never two runs at once, until SIGTERM, SIGINT or SIGHUP.',
  doctor: 'Try everything that a run needs, in order, and say what was found and what to do.',
  status:
    'Show how fresh each list is, its last run, its record count and how complete it is. With several mirrors: one line each.',
  runs: 'Show the run history, the newest run first.',
  changes: 'Show what was inserted, updated and removed: by the last run, or since a run or a time.',
  query: 'Run one SQL statement that reads, and print its rows.',
  show: 'Show one record: its current text, and each version that it ever had, with the runs that changed it.',
  rejected: 'Show the records that could not be read: why, how many, and their text.',
  report:
    'Write one HTML page on a period: what needs attention, exports against the period before, what changed, and how complete the lists are.',
  serve:
    "Serve the mirror over HTTP, read-only, in the service's own shape; for browsers a report, lists with filters, records, a search.",
  verify:
    "Audit the mirror: SQLite's own checks, every row, the history and the runs' records; with --live also the service.",
  share: 'Make a copy of the mirror that everybody can read, and put it in its place in one step.',
  backup: 'Copy the mirror while it is in use, and prove the copy before it gets its name.',
  accept:
    'Accept a known finding, so that runs and monitoring tell only of others; or show what is accepted.',
  erase: "Remove the text of a record's ended versions for good, and write a receipt about it.",
  export: 'Write the lists, as they are or were, into files for other tools.',
  'publish clickhouse': 'Insert the new runs into ClickHouse, and compare what arrived with the mirror.',
  'audit keygen':
    'Write a private key, for its owner alone, never over an existing file, and print the public one.',
  'audit checkpoint': 'Print a signed checkpoint of all receipts.',
  'audit receipts': 'List the receipts, the oldest first.',
  completion: 'Print a script that completes commands and flags in a shell.',
  demo: 'Show everything without settings: mirror a sample service into docmirror-demo.sqlite, a run a day for two weeks, with a share.',
};

const loaders: Readonly<Record<keyof typeof descriptions, () => Promise<Command>>> = {
  sync: async () => (await import('./sync.ts')).sync,
  watch: async () => (await import('./watch.ts')).watch,
  doctor: async () => (await import('./doctor.ts')).doctor,
  status: async () => (await import('./status.ts')).status,
  runs: async () => (await import('./show.ts')).runs,
  changes: async () => (await import('./changes.ts')).changesCommand,
  query: async () => (await import('./query.ts')).query,
  show: async () => (await import('./show.ts')).show,
  rejected: async () => (await import('./show.ts')).rejected,
  report: async () => (await import('./report.ts')).report,
  serve: async () => (await import('./serve.ts')).serve,
  verify: async () => (await import('./verify.ts')).verify,
  share: async () => (await import('./share.ts')).shareCommand,
  backup: async () => (await import('./backup.ts')).backup,
  accept: async () => (await import('./accept.ts')).acceptCommand,
  erase: async () => (await import('./erase.ts')).eraseCommand,
  export: async () => (await import('./export.ts')).exportMirror,
  'publish clickhouse': async () => (await import('./publish.ts')).publishClickhouse,
  'audit keygen': async () => (await import('./audit.ts')).keygen,
  'audit checkpoint': async () => (await import('./audit.ts')).checkpoint,
  'audit receipts': async () => (await import('./audit.ts')).receipts,
  completion: async () => (await import('./completion.ts')).completionOf(loadCommands),
  demo: async () => (await import('./demo.ts')).demo,
};

/** The purpose of each group of commands, by the name of the group. */
export const groups: ReadonlyMap<string, string> = new Map([
  ['publish', 'Bring the mirror and its change feed into a database that all tenants share.'],
  [
    'audit',
    "Receipts of all runs, and checkpoints that pin them: a mirror's history for those who trust no one.",
  ],
]);

/** A command, found by its name. */
export interface FoundCommand {
  readonly name: string;
  readonly description: string;
  readonly load: () => Promise<Command>;
}

const all = Object.entries(loaders).map(([name, load]): FoundCommand => {
  return { name, description: descriptions[name as keyof typeof loaders], load };
});

/** @throws UsageError if words begin with no command; it names the one that they might mean. */
export function findCommand([head = '', inner]: readonly string[]): FoundCommand {
  const found = all.find(({ name }) => name === `${head} ${inner}` || name === head);
  if (found !== undefined) return found;
  const isGroup = groups.has(head);
  const known = [...entriesIn(isGroup ? head : '').keys()];
  if (isGroup && inner === undefined)
    throw new UsageError(`"docmirror ${head}" needs one more word: ${known.join(', ')}.`);
  const typed = isGroup ? `${head} ${inner}` : head;
  throw new UsageError(`unknown command '${typed}'.${nearest(isGroup ? `${inner}` : head, known)}`);
}

/** A question after a message about a word that is unknown; empty if no known word has its letters or its beginning. */
export function nearest(word: string, known: readonly string[]): string {
  const letters = (text: string) => [...text.replaceAll('-', '')].sort().join('');
  const beginning = word.slice(0, Math.max(4, word.length - 2));
  const found = known.find(each => letters(each) === letters(word) || each.startsWith(beginning));
  return found === undefined ? '' : ` Did you mean ${found}?`;
}

/** The words that can follow the name of a group or, if it is empty, `docmirror`, and what each is for. */
export function entriesIn(group: string): Map<string, string> {
  const entries = all.flatMap(({ name, description }): [string, string][] => {
    const [head = '', inner = ''] = name.split(' ');
    if (group === '') return [[head, groups.get(head) ?? description]];
    return head === group ? [[inner, description]] : [];
  });
  return new Map(entries);
}

/** All commands, loaded. */
export function loadCommands(): Promise<(FoundCommand & { readonly command: Command })[]> {
  return Promise.all(all.map(async entry => ({ ...entry, command: await entry.load() })));
}
