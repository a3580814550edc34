import { existsSync } from 'node:fs';
import { resolveService } from '../config/resolve.ts';
import { TokenUnavailableError, UsageError } from '../errors.ts';
import { printable } from '../printable.ts';
import type { Context } from './command.ts';
import { widthOf } from './io.ts';
import { readToken } from './token.ts';

/** `docmirror` alone: the state of the mirror or, if there is none yet, what to set and to do. */
export async function defaultCommand([name]: readonly unknown[], context: Context): Promise<void> {
  const { stdout } = context;
  if (name !== undefined) throw new UsageError(`Flags come after the command: docmirror ${name} …`);
  const { database } = context.config;
  if (!existsSync(database)) {
    stdout.write(howToBegin(database, await whatIsMissing(context)));
    return;
  }
  const { statusText } = await import('../render/status.ts');
  const { RunReader } = await import('../store/read/run-reader.ts');
  using reader = new RunReader(database);
  const lists = reader.status();
  const [baseUrl] = lists.flatMap(({ lastRun }) => (lastRun === null ? [] : [lastRun.baseUrl]));
  stdout.write(
    `${printable(`${database} mirrors ${baseUrl ?? 'nothing yet'}`)}\n${statusText(lists, context.clock().getTime(), { run: reader.newestRun(), width: widthOf(stdout) })}`,
  );
}

/** The settings that a run still needs, in words; null if the settings are complete. */
async function whatIsMissing({ environment, signal }: Context): Promise<string | null> {
  try {
    const { token } = resolveService({}, environment);
    // The doctor does the checks that take long or ask a person.
    if (!('command' in token)) await readToken(token, signal);
    return null;
  } catch (error) {
    if (error instanceof UsageError || error instanceof TokenUnavailableError) return error.message;
    throw error;
  }
}

function howToBegin(database: string, missing: string | null): string {
  const next = '"docmirror doctor" tries everything that a run needs, and "docmirror sync" makes the mirror.';
  const lines = [
    `There is no mirror here yet: ${database} does not exist.`,
    ...(missing === null
      ? ['The settings are complete.', next]
      : [
          'A run needs DOCMIRROR_BASE_URL and DOCMIRROR_TOKEN, in the environment or in an --env-file.',
          missing,
          `Then ${next}`,
        ]),
    'With nothing set up, "docmirror demo" shows it all. "docmirror --help" lists the commands.',
  ];
  return lines.map(line => `${printable(line)}\n`).join('');
}
