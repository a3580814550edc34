import { printable } from '../../printable.ts';
import type { ReportData } from '../../store/read/report-data.ts';
import type { VolumeNumbers } from '../../store/read/volume.ts';
import { cut } from '../cut.ts';
import { count, counted } from '../numbers.ts';
import { Clock } from './clock.ts';
import type { Concern, Freshness } from './verdict.ts';

const dayMs = 86_400_000;
/** No connection is quiet before that, in milliseconds: a long weekend. */
const silenceMsMin = 4 * dayMs;
/** A connection is also not quiet before its silence is this many times the usual one. */
const usualGaps = 5;
/** A longer silence is not news, in milliseconds, unless the period before is longer. */
const newsMs = 90 * dayMs;
const namedMax = 5;

/** A connection that has stopped exporting or receiving. */
export interface QuietConnection {
  readonly id: number;
  readonly role: 'source' | 'destination';
  readonly name: string;
  readonly lastMs: number;
  readonly silenceMs: number;
  readonly usualGapMs: number;
}

/** How long nothing has come, in milliseconds, if that is longer than usual; else null. `knownMs` is now, or the period's end. */
function silenceMs({ lastMs, usualGapMs }: VolumeNumbers, knownMs: number): number | null {
  if (lastMs === null) return null;
  const silence = knownMs - lastMs;
  return silence >= Math.max(silenceMsMin, usualGaps * (usualGapMs ?? 0)) ? silence : null;
}

/** The connections that went quiet in the period or shortly before, the latest first. */
function quietConnections({ exports, period, connectionNames }: ReportData): QuietConnection[] {
  const { knownMs, sources, destinations } = exports;
  const newsFromMs = Math.min(knownMs - newsMs, period.spanBefore.fromMs);
  const quiet = (role: QuietConnection['role'], all: typeof sources) =>
    all.entries.flatMap(volume => {
      const { key: id, lastMs, usualGapMs } = volume;
      const silence = silenceMs(volume, knownMs);
      if (id === null || lastMs === null || usualGapMs === null || silence === null) return [];
      if (lastMs < newsFromMs) return [];
      const name = cut(printable(connectionNames.get(id) ?? `connection ${id}`), 80);
      return [{ id, role, name, lastMs, silenceMs: silence, usualGapMs }];
    });
  return [...quiet('source', sources), ...quiet('destination', destinations)].sort(
    (a, b) => b.lastMs - a.lastMs,
  );
}

/** The concerns if exports stop: all of them, or those of connections that went quiet. */
export function quietConcerns(data: ReportData): Concern[] {
  const { exports, period } = data;
  const clock = new Clock(period.timezone);
  const { lastMs } = exports.all;
  const silence = silenceMs(exports.all, exports.knownMs);
  if (silence !== null && lastMs !== null) {
    const isOver = exports.knownMs === period.span.toMs;
    const until = isOver
      ? `the end of the period`
      : `${clock.day(exports.knownMs)} ${clock.time(exports.knownMs)}`;
    return [
      {
        tone: 'bad',
        title: `No document was exported for ${days(silence)}`,
        detail: `The last one before ${until} is of ${clock.day(lastMs)} ${clock.time(lastMs)}.`,
        advice: 'Ask those who run the export service and the systems that documents come from.',
        commands: [],
      },
    ];
  }
  const quiet = quietConnections(data);
  if (quiet.length === 0) return [];
  const named = quiet
    .slice(0, namedMax)
    .map(
      ({ name, role, silenceMs, lastMs }) =>
        `${name} as ${role} for ${days(silenceMs)}, since ${clock.day(lastMs)}`,
    );
  const rest = quiet.length - named.length;
  return [
    {
      tone: 'warn',
      title:
        quiet.length === 1 ? 'One connection went quiet' : `${count(quiet.length)} connections went quiet`,
      detail: `${named.join('; ')}${rest > 0 ? `; and ${count(rest)} more` : ''}. That is at least five times as long as usual.`,
      advice: 'Ask those who run these systems.',
      commands: [],
    },
  ];
}

/** If no limit for the age is set: a mirror is behind if it is older than this, in milliseconds. */
const behindMsMin = 2 * 86_400_000;

/** The concerns if the mirror itself is behind, so that later exports are not known. */
export function behindConcerns(
  { exports, period, lists }: ReportData,
  { nowMs, maxAgeMs }: Freshness,
): Concern[] {
  const untilMs = Math.min(nowMs, period.span.toMs);
  const list = lists.find(({ resource }) => resource === 'document-exports');
  if (maxAgeMs !== null || typeof list?.lastCompletedAt !== 'string') return [];
  if (untilMs - exports.knownMs < behindMsMin && nowMs - Date.parse(list.lastCompletedAt) < behindMsMin)
    return [];
  if (untilMs <= exports.knownMs) return [];
  return [
    {
      tone: 'warn',
      title: `The mirror is ${days(nowMs - Date.parse(list.lastCompletedAt))} behind`,
      detail: 'What was exported since its last completed run is not in this report.',
      advice: 'See why runs fail, or whether any are started at all.',
      commands: ['docmirror runs --limit 5'],
    },
  ];
}

/** `23 days`, whole ones. */
function days(ms: number): string {
  return counted(Math.floor(ms / dayMs), 'day');
}
