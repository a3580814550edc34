import type { Command } from 'commander';
import { resolveConfig, resolveService, wholeNumber } from '../config/resolve.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { type LiveResult, liveText, verificationJson, verificationText } from '../render/verification.ts';
import { fileBehind } from '../store/file/mirror-path.ts';
import { verifyMirror } from '../store/verify/verify.ts';
import { verifyWithCheckpoints } from './checkpoint-file.ts';
import type { CommandContext } from './context.ts';
import { jsonOutput } from './json-output.ts';
import { createLogger } from './logging.ts';
import { terminalWidth } from './terminal-width.ts';
import { verifyLive } from './verify-live.ts';

interface VerifyFlags {
  readonly live?: boolean;
  readonly json?: boolean;
  readonly limit: string;
  readonly checkpoint?: readonly string[];
  readonly publicKey?: string;
  /** The flag only; the setting's variable can be set for other commands. */
  readonly signingKeyFile?: string;
}

const limitMax = 1_000_000;

/** `docmirror verify`; its flags are in the table of commands. */
export async function verify(command: Command, context: CommandContext): Promise<void> {
  const { environment, inEnvFile, stdout, stderr, signal, setExitCode } = context;
  const flags = command.opts<VerifyFlags>();
  const config = resolveConfig(command.opts(), environment);
  const limit = wholeNumber('--limit', flags.limit, 1, limitMax);
  if (flags.publicKey !== undefined && flags.checkpoint === undefined)
    throw new UsageError('--public-key goes with --checkpoint.');
  if (flags.signingKeyFile !== undefined && flags.checkpoint === undefined)
    throw new UsageError('--signing-key-file goes with --checkpoint.');
  const service = flags.live ? resolveService(command.opts(), environment, inEnvFile) : null;
  const { checkpoint: checkpoints, publicKey } = flags;
  const { signingKeyFile } = config;
  const database = fileBehind(config.database);
  context.teller?.begun();
  const verification =
    checkpoints === undefined
      ? await verifyMirror(database, { limit, signal })
      : await verifyWithCheckpoints(database, { limit, signal, checkpoints, publicKey, signingKeyFile });
  context.teller?.summary(verificationText(verification));
  if (!flags.json) stdout.write(verificationText(verification, terminalWidth(stdout)));
  let live: (LiveResult & { exitCode: number }) | null = null;
  // A damaged file can't be compared with the service.
  const isReadable = verification.lists.length > 0;
  if (service !== null && isReadable) {
    const logger = createLogger(config, stderr.isTTY, context.secrets);
    live = await verifyLive({ config, service, limit, logger }, context);
    if (!flags.json) stdout.write(`\n${liveText(live)}`);
  }
  if (flags.json) stdout.write(jsonOutput(verificationJson(verification, live), config.labels));
  setExitCode(verification.differenceCount > 0 ? exitCodes.difference : (live?.exitCode ?? exitCodes.done));
}
