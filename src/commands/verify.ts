import { exitCodes, UsageError } from '../errors.ts';
import { type LiveResult, liveText, verificationText, verifyOutputOf } from '../render/verification.ts';
import { fileBehind } from '../store/file/mirror-path.ts';
import { verifyWithCheckpoints } from './checkpoint-file.ts';
import { command } from './command.ts';
import {
  defaulting,
  mirrorSettings,
  notifierSettings,
  number,
  repeated,
  serviceSettings,
  text,
  yes,
} from './flags.ts';
import { verifyLive } from './verify-live.ts';

/** `docmirror verify` */
export const verify = command({
  flags: {
    live: yes(
      'read the service, and name records that the mirror lacks, has too many of or has in another form',
    ),
    limit: defaulting(number('N', 'how many differences to show', [1, 1_000_000]), '100'),
    checkpoint: repeated(
      text('FILE', 'the history up to that checkpoint must be unaltered; repeat it for more'),
    ),
    publicKey: text('FILE', 'the key that must have signed each checkpoint'),
  },
  settings: [...serviceSettings, 'signingKeyFile', 'waitMs', ...notifierSettings, ...mirrorSettings],
  examples: {
    'docmirror verify': 'is the file what docmirror wrote?',
    'docmirror verify --live': 'is it also what the service lists now?',
    'docmirror verify --json > audit.json': 'for scripts',
  },
  notes: [
    'Nothing is written, and a run in progress does not have to wait. --live reads every list at least twice.',
  ],
  exitCodes:
    '0 sound, 4 a difference was found; with --live also 1 nothing could be compared, 3 not all could, 12 the service refused the token.',
  notifies: () => true,
  async run({ live: isLive, limit, checkpoint: checkpoints, publicKey }, context) {
    const { config, signal, settings, notifier } = context;
    if (publicKey !== null && checkpoints.length === 0)
      throw new UsageError('--public-key goes with --checkpoint.');
    // The setting's variable can be set for other commands.
    if (settings.flags.signingKeyFile !== undefined && checkpoints.length === 0)
      throw new UsageError('--signing-key-file goes with --checkpoint.');
    if (isLive) void context.service;
    const { signingKeyFile } = config;
    notifier?.begun();
    const options = { limit, signal, checkpoints, publicKey, signingKeyFile };
    const verification = await verifyWithCheckpoints(fileBehind(config.database), options);
    // A damaged file can't be compared with the service.
    const isWhole = verification.lists.length > 0;
    const live: (LiveResult & { exitCode: number }) | null =
      isLive && isWhole ? await verifyLive(context, limit) : null;
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
