import { isObject } from '../contract/json.ts';
import { lists } from '../contract/lists.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { shownEndpoint, withoutAddressSecrets } from '../render/endpoint.ts';
import { counted } from '../render/numbers.ts';
import { type LiveResult, verificationText, verificationTones, verifiedOf } from '../render/verification.ts';
import { fileBehind } from '../store/file/open.ts';
import { changedFields, type Item } from '../store/read/cells.ts';
import type { RecordChange } from '../store/write/mirror.ts';
import { exitCodeOf, type RunSummary } from '../sync/run.ts';
import { verifyWithCheckpoints } from './checkpoint-file.ts';
import { type Context, command } from './command.ts';
import {
  defaulting,
  mirrorSettings,
  notifierSettings,
  numeral,
  repeated,
  serviceSettings,
  typed,
  yes,
} from './flags.ts';
import { createLogger } from './logging.ts';
import { runOnce } from './run-once.ts';

const ownSettings = ['signingKeyFile', 'waitMs', ...notifierSettings] as const;

export default command({
  flags: {
    live: yes,
    limit: defaulting(numeral('N', [1, 1_000_000]), '100'),
    checkpoint: repeated(typed('FILE')),
    publicKey: typed('FILE'),
  },
  settings: [...serviceSettings, 'ignoreFields', ...ownSettings, ...mirrorSettings],
  notifies: () => true,
  async run({ live: isLive, limit, checkpoint: checkpoints, publicKey }, context) {
    const { config, signal, settings, notifier } = context;
    // The variable of the key that signs can be set for other commands.
    if (checkpoints.length === 0 && (publicKey ?? settings.flags.signingKeyFile ?? null) !== null)
      throw new UsageError('--public-key and --signing-key-file go with --checkpoint.');
    if (isLive) void context.service;
    const { signingKeyFile } = config;
    notifier?.begun();
    context.line.work(`checking ${config.database}`);
    const options = { limit, signal, checkpoints, publicKey, signingKeyFile };
    const verification = await verifyWithCheckpoints(fileBehind(config.database), options);
    // A damaged file can't be compared with the service.
    const isWhole = verification.lists.length > 0;
    const live = isLive && isWhole ? await verifyLive(context, limit) : null;
    if (verification.differenceCount > 0) context.exitCode = exitCodes.difference;
    return verifiedOf(verification, live);
  },
  output: verified => verified,
  text: verificationText,
  tones: verificationTones,
});

/** Compares the mirror with the service: a dry run of `sync` whose changes are differences, of which `limit` are kept. */
async function verifyLive(context: Context, limit: number): Promise<LiveResult> {
  const { config, service, signal } = context;
  const differences: LiveResult['differences'][number][] = [];
  let differenceCount = 0;
  const logger = createLogger(config, context);
  const onPlannedChange = (change: RecordChange) => {
    differenceCount++;
    if (differenceCount <= limit) differences.push(differenceOf(change));
  };
  const whole = { full: true, allowMassRemoval: true, onPlannedChange };
  const order = { ...whole, config: { ...config, deadlineMs: null }, service, logger };
  const summary = await runOnce(order, context);
  signal.throwIfAborted();
  const notes = summary.resources.flatMap(notesOn);
  context.exitCode = differenceCount > 0 ? exitCodes.difference : exitCodeOf(summary, signal);
  return { isProven: notes.length === 0, notes, differenceCount, differences };
}

function notesOn(list: RunSummary['resources'][number]): string[] {
  const { resource, error, completeness, reason, rejected } = list;
  if (error !== null) return [`${resource} could not be compared: ${error.message}`];
  const unproven = `${resource}: the readings proved nothing, so differences might come from that: ${reason}`;
  const unread = `${resource}: ${counted(rejected, 'record')} could not be read, so not all was compared.`;
  return [...(completeness === 'proven' ? [] : [unproven]), ...(rejected > 0 ? [unread] : [])];
}

const kinds = { insert: 'missing', update: 'different', removal: 'extra' } as const;

function differenceOf({ resource, operation, recordId, record, before }: RecordChange) {
  const service: Item = JSON.parse(record);
  const mirror: Item = JSON.parse(before ?? record);
  const identity = lists.find(list => list.resource === resource)?.identity;
  // A connection counts by its id.
  const keyPart = (value: unknown) => (isObject(value) ? value.id : value) ?? '–';
  const key = identity?.by === 'content' ? identity.fields.map(name => keyPart(service[name])) : [recordId];
  const shown = (field: string, value: unknown = null) => {
    if (typeof value !== 'string') return value;
    return field === 'endpoint' ? shownEndpoint(value) : withoutAddressSecrets(value);
  };
  const fields = changedFields(resource, mirror, service).map(field => {
    return { field, mirror: shown(field, mirror[field]), service: shown(field, service[field]) };
  });
  const id = operation === 'insert' ? null : recordId;
  return { kind: kinds[operation], resource, id, key: key.join(' · '), fields };
}
