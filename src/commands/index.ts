import { UsageError } from '../errors.ts';
import type { Command } from './command.ts';
import help from './help.json' with { type: 'json' };

/** One sentence that says what docmirror is. */
export const purpose = 'Keeps a complete, provable copy of a Document Export Service in one SQLite file.';

/** What the help, the reference and the manual page say of a command; `help.json` has all, in their order. One in a group has two words. */
interface CommandHelp {
  readonly description: string;
  /** Command lines, and what each is for. */
  readonly examples: Readonly<Record<string, string>>;
  readonly notes?: readonly string[];
  /** Its exit codes besides 0, 1 and 2, or the meaning of these here. */
  readonly exitCodes?: string;
}

const texts: Readonly<Record<keyof typeof help, CommandHelp>> = help;

const loaders: Readonly<Record<keyof typeof help, () => Promise<Command>>> = {
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
export interface FoundCommand extends CommandHelp {
  readonly name: string;
  readonly load: () => Promise<Command>;
}

const all = Object.entries(texts).map(([name, text]): FoundCommand => {
  return { name, ...text, load: loaders[name as keyof typeof help] };
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
