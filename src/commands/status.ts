import { existsSync } from 'node:fs';
import { withEnvFile } from '../config/env-file.ts';
import { addressOf, type Environment, resolveConfig, resolveService } from '../config/resolve.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { printable } from '../printable.ts';
import {
  isFault,
  type MirrorStatus,
  mirrorStatusOf,
  nextRun,
  overviewText,
  statusText,
  worstFirst,
} from '../render/status.ts';
import { verdictTones } from '../render/tones.ts';
import { readBeside } from '../store/file/beside.ts';
import { isListFresh } from '../store/read/list-state.ts';
import { RunReader } from '../store/read/runs/runs.ts';
import { command, type Told } from './command.ts';
import { defaulting, option, repeated, timeSpan, typed, yes } from './flags.ts';
import { failureOf } from './io.ts';

export default command({
  arguments: { mirrors: repeated(typed('FILE')) },
  flags: {
    format: defaulting(option(['table', 'prometheus'], 'FORMAT'), 'table'),
    strict: yes,
    maxAge: timeSpan,
  },
  async run({ mirrors, format, strict, maxAge: maxAgeMs, json }, context): Promise<Told> {
    if (json && format === 'prometheus')
      throw new UsageError('--json and --format prometheus exclude each other.');
    const { database, labels } = context.config;
    const nowMs = Date.now();
    const isMany = mirrors.length > 0;
    const rows = (isMany ? mirrors : [database]).map((each): MirrorStatus => {
      let mirror = each;
      try {
        if (!isMany || !each.endsWith('.env')) return stateOf(mirror, nowMs, maxAgeMs);
        const own = configOf(each, context.settings.environment);
        mirror = own.database;
        const row = stateOf(mirror, nowMs, maxAgeMs);
        const baseUrl = own.baseUrl && addressOf(own.baseUrl);
        if (baseUrl !== null && row.baseUrl !== null && row.baseUrl !== baseUrl)
          throw new UsageError(`it is the mirror of ${row.baseUrl}, not of ${baseUrl}`);
        return row;
      } catch (error) {
        const { code, message } = failureOf(error);
        if (!isMany || code === 'internal') throw error;
        const why = code === 'settings' ? message : code;
        return { ...mirrorStatusOf(mirror, [], null, nowMs, null), state: 'unreadable', why };
      }
    });
    const lists = rows.flatMap(({ resources }) => resources);
    const isTooOld = maxAgeMs !== null && lists.some(list => !isListFresh(list, nowMs, maxAgeMs));
    if (isTooOld || (strict && rows.some(isFault))) context.exitCode = exitCodes.difference;
    else if (rows.some(({ state }) => state === 'unreadable')) context.exitCode = exitCodes.failed;
    if (format === 'prometheus') {
      const { labelledFigures, metricsText } = await import('../serve/metrics.ts');
      const figures = rows.map(({ database: mirror, labels: own }) =>
        labelledFigures(mirror, { ...labels, ...(isMany && { ...own, mirror }) }),
      );
      return { output: {}, text: () => metricsText(figures) };
    }
    const sorted = worstFirst(rows);
    if (isMany) return { output: { mirrors: sorted }, text: width => overviewText(sorted, width) };
    const [row] = rows as [MirrorStatus];
    const { state, why, run, resources } = row;
    // The note of the watch that keeps this mirror.
    const note = readBeside(nextRun, `${database}.watch`);
    const watch = Number.isNaN(Date.parse(note?.nextRunAt ?? '')) ? null : note;
    return {
      output: { state, why, run, resources, nextRunAt: watch?.nextRunAt ?? null },
      text: width => statusText(row, nowMs, width, watch),
      tones: tonesOf(row),
    };
  },
  output: ({ output }) => output,
  text: ({ text }, width) => text(width),
  tones: ({ tones = [] }) => tones,
});

/** The settings of a tenant. It throws a UsageError if a run by them could not begin, or none ever has. */
function configOf(envFile: string, environment: Environment) {
  const own = withEnvFile(envFile, environment);
  const config = resolveConfig({}, own.environment);
  const { database } = config;
  // Otherwise an empty file would show another tenant's mirror, or that of the current folder.
  if (!own.inEnvFile.has('DOCMIRROR_DATABASE')) throw new UsageError('it does not set DOCMIRROR_DATABASE');
  if (existsSync(database)) return config;
  resolveService({}, own.environment);
  throw new UsageError(`no run has begun: there is no ${database}`);
}

const tonesOf = ({ resources }: MirrorStatus) => verdictTones(resources.map(({ lastRun }) => lastRun));

function stateOf(database: string, nowMs: number, maxAgeMs: number | null): MirrorStatus {
  using reader = new RunReader(database);
  return mirrorStatusOf(database, reader.status(), reader.runs(1)[0] ?? null, nowMs, maxAgeMs);
}

/** `docmirror` alone: the state of the mirror or, if there is none yet, what to set and to do. */
export const defaultCommand = command({
  flags: {},
  settings: ['database'],
  run(_given, { config: { database } }): Told {
    if (!existsSync(database)) return { output: {}, text: () => howToBegin(database) };
    const nowMs = Date.now();
    const row = stateOf(database, nowMs, null);
    const head = printable(`${database} mirrors ${row.baseUrl ?? 'nothing yet'}`);
    const text = (width: number) => `${head}\n${statusText(row, nowMs, width)}`;
    return { output: row, text, tones: tonesOf(row) };
  },
  text: ({ text }: Told, width) => text(width),
  tones: ({ tones = [] }) => tones,
});

function howToBegin(database: string): string {
  return `There is no mirror here yet: ${printable(database)} does not exist.
A run needs DOCMIRROR_BASE_URL and DOCMIRROR_TOKEN, in the environment or in an --env-file.
"docmirror doctor" tries everything that a run needs, and "docmirror sync" makes the mirror.
With nothing set up, "docmirror demo" shows it all. "docmirror --help" lists the commands.
`;
}
