import { existsSync } from 'node:fs';
import { resolveService } from '../config/resolve.ts';
import { UsageError } from '../errors.ts';
import { printable } from '../printable.ts';
import { statusText } from '../render/status.ts';
import { RunReader } from '../store/read/run-reader.ts';
import { type Context, command } from './command.ts';
import { widthOf } from './io.ts';

/** `docmirror` alone: the state of the mirror or, if there is none yet, what to set and to do. */
export const defaultCommand = command({
  flags: {},
  settings: ['database'],
  examples: {},
  run(_given, context) {
    const { stdout, config } = context;
    const { database } = config;
    if (!existsSync(database)) return howToBegin(database, whatIsMissing(context));
    using reader = new RunReader(database);
    const lists = reader.status();
    const [baseUrl] = lists.flatMap(({ lastRun }) => (lastRun === null ? [] : [lastRun.baseUrl]));
    const head = printable(`${database} mirrors ${baseUrl ?? 'nothing yet'}`);
    const shown = { run: reader.newestRun(), width: widthOf(stdout) };
    return `${head}\n${statusText(lists, Date.now(), shown)}`;
  },
  text: said => said,
});

/** The first setting that a run still needs, in words; null if the settings are complete. */
function whatIsMissing({ settings: { environment } }: Context): string | null {
  try {
    resolveService({}, environment);
    return null;
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

function howToBegin(database: string, missing: string | null): string {
  const next = '"docmirror doctor" tries everything that a run needs, and "docmirror sync" makes the mirror.';
  const needs = `A run needs DOCMIRROR_BASE_URL and DOCMIRROR_TOKEN, in the environment or in an --env-file.
${printable(missing ?? '')}
Then ${next}`;
  return `There is no mirror here yet: ${printable(database)} does not exist.
${missing === null ? `The settings are complete.\n${next}` : needs}
With nothing set up, "docmirror demo" shows it all. "docmirror --help" lists the commands.
`;
}
