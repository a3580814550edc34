import { exitCodes, UsageError } from '../errors.ts';
import { type LiveResult, liveText, verificationText, verifyOutputOf } from '../render/verification.ts';
import { fileBehind } from '../store/file/mirror-path.ts';
import { verifyMirror } from '../store/verify/verify.ts';
import { verifyWithCheckpoints } from './checkpoint-file.ts';
import { command } from './command.ts';
import { defaulting, file, files, number, yes } from './flags.ts';
import { createLogger } from './logging.ts';
import { mirrorSettings, notifierSettings, serviceSettings } from './shared-flags.ts';
import { verifyLive } from './verify-live.ts';

/** `docmirror verify` */
export const verify = command({
  flags: {
    live: yes(
      'read the service, and name records that the mirror lacks, has too many of or has in another form',
    ),
    limit: defaulting(number('N', 'how many differences to show', [1, 1_000_000]), '100'),
    checkpoint: files('the history up to that checkpoint must be unaltered; repeat it for more'),
    publicKey: file('the key that must have signed each checkpoint', { isOnce: true }),
  },
  settings: [...serviceSettings, 'signingKeyFile', 'waitMs', ...notifierSettings, ...mirrorSettings],
  examples: [
    { line: 'docmirror verify', meaning: 'is the file what docmirror wrote?' },
    { line: 'docmirror verify --live', meaning: 'is it also what the service lists now?' },
    { line: 'docmirror verify --json > audit.json', meaning: 'for scripts' },
  ],
  notes: [
    'Nothing is written, and a run in progress does not have to wait. --live reads every list at least twice.',
  ],
  exitCodes:
    '0 sound, 4 a difference was found; with --live also 1 nothing could be compared, 3 not all could, 12 the service refused the token.',
  notifies: () => true,
  async run({ live: isLive, limit, checkpoint: checkpoints, publicKey }, context) {
    const { config, settings, signal } = context;
    if (publicKey !== null && checkpoints.length === 0)
      throw new UsageError('--public-key goes with --checkpoint.');
    // The setting's variable can be set for other commands.
    if (settings.flags.signingKeyFile !== undefined && checkpoints.length === 0)
      throw new UsageError('--signing-key-file goes with --checkpoint.');
    const service = isLive ? context.service : null;
    const { signingKeyFile } = config;
    const database = fileBehind(config.database);
    context.notifier?.begun();
    const verification =
      checkpoints.length === 0
        ? await verifyMirror(database, { limit, signal })
        : await verifyWithCheckpoints(database, { limit, signal, checkpoints, publicKey, signingKeyFile });
    let live: (LiveResult & { exitCode: number }) | null = null;
    // A damaged file can't be compared with the service.
    if (service !== null && verification.lists.length > 0) {
      const logger = createLogger(config, context);
      live = await verifyLive({ config, service, limit, logger }, context);
    }
    context.exitCode =
      verification.differenceCount > 0 ? exitCodes.difference : (live?.exitCode ?? exitCodes.done);
    return { verification, live };
  },
  output: ({ verification, live }) => verifyOutputOf(verification, live),
  text({ verification, live }, width) {
    const found = verificationText(verification, width);
    return live === null ? found : `${found}\n${liveText(live)}`;
  },
});
