import type { Command } from 'commander';
import { resolveConfig, resolveService, wholeNumber } from '../config/resolve.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { type LiveResult, liveText, verificationJson, verificationText } from '../render/verification.ts';
import { verifyMirror } from '../store/verify/verify.ts';
import { verifyWithCheckpoint } from './checkpoint-file.ts';
import type { CommandContext, CommandRegistration } from './context.ts';
import { addSettingFlags, mirrorFlags, serviceFlags } from './flags.ts';
import { createLogger } from './logging.ts';
import { verifyLive } from './verify-live.ts';

interface VerifyFlags {
  readonly live?: boolean;
  readonly json?: boolean;
  readonly limit: string;
  readonly checkpoint?: string;
  readonly publicKey?: string;
}

const limitMax = 1_000_000;

const examples = `
Examples:
  $ docmirror verify                      is the file what docmirror wrote?
  $ docmirror verify --live               is it also what the service lists now?
  $ docmirror verify --checkpoint last-week --public-key key.pub
  $ docmirror verify --json | jq .ok      for scripts

Nothing is written, and a run that is under way is not held up. --live reads every list at least twice.

Exit codes: 0 sound, 4 a difference was found; with --live also 3 not all could be compared,
12 the service refused the token.`;

/** Registers `verify`: the audit of the file and, with `--live`, its comparison with the service. */
export const registerVerify: CommandRegistration = (program, context) => {
  const command = program
    .command('verify')
    .description(
      "Audit the mirror: SQLite's own checks, every row, the history and the runs' records; with --live also the service.",
    )
    .option('--live', 'walk the service, and name what the mirror lacks, has too much or has otherwise')
    .option('--limit <N>', 'how many differences to show', '100')
    .option('--checkpoint <FILE>', 'the history up to that checkpoint must be unaltered')
    .option('--public-key <FILE>', 'the key that must have signed the checkpoint')
    .option('--json', 'print it as one JSON object')
    .addHelpText('after', examples);
  addSettingFlags(command, [...serviceFlags.filter(isForReading), 'signingKeyFile', ...mirrorFlags]).action(
    () => verify(command, context),
  );
};

function isForReading(name: string): boolean {
  return !['fullEveryMs', 'maxRemovals', 'actor', 'keepHistoryMs'].includes(name);
}

async function verify(command: Command, context: CommandContext): Promise<void> {
  const { environment, stdout, stderr, signal, setExitCode } = context;
  const flags = command.opts<VerifyFlags>();
  const config = resolveConfig(command.opts(), environment);
  const limit = wholeNumber('--limit', flags.limit, 1, limitMax);
  if (flags.publicKey !== undefined && flags.checkpoint === undefined)
    throw new UsageError('--public-key goes with --checkpoint.');
  const service = flags.live ? resolveService(command.opts(), environment) : null;
  const { checkpoint, publicKey } = flags;
  const { database, signingKeyFile } = config;
  const verification =
    checkpoint === undefined
      ? await verifyMirror(database, { limit, signal })
      : await verifyWithCheckpoint(database, { limit, signal, checkpoint, publicKey, signingKeyFile });
  if (!flags.json) stdout.write(verificationText(verification));
  let live: (LiveResult & { exitCode: number }) | null = null;
  // A file that is damaged can't be held against anything.
  const isReadable = verification.lists.length > 0;
  if (service !== null && isReadable) {
    const logger = await createLogger(config.logLevel, stderr.isTTY, context.secrets);
    live = await verifyLive({ config, service, limit, logger }, context);
    if (!flags.json) stdout.write(`\n${liveText(live)}`);
  }
  if (flags.json) stdout.write(verificationJson(verification, live));
  setExitCode(verification.differenceCount > 0 ? exitCodes.difference : (live?.exitCode ?? exitCodes.done));
}
