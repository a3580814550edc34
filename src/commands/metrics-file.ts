import { readFileSync } from 'node:fs';
import type { Labels } from '../config/parse.ts';
import { labelledFigures, metricsText, textOf } from '../serve/metrics.ts';
import { writeWhole } from '../store/file/atomic-file.ts';

/** The figures of a backup. */
export interface BackupFigures {
  readonly runId: number;
  readonly bytes: number;
}

/** A command that has ended. */
interface EndedCommand {
  readonly command: string;
  readonly exitCode: number;
  readonly atMs: number;
  /** Null if none was made. */
  readonly backup: BackupFigures | null;
}

/** Everybody can read the files: the collector runs as another user, and the metrics are not secret. */
const publicMode = 0o644;

type Gauge = readonly [name: string, help: string, numberOf: (ended: EndedCommand) => number];

const commandGauges: readonly Gauge[] = [
  [
    'docmirror_command_last_exit_code',
    'What the command exited with, the last time.',
    ({ exitCode }) => exitCode,
  ],
  [
    'docmirror_command_last_end_timestamp_seconds',
    'When the command ended the last time, in seconds since 1970.',
    ({ atMs }) => atMs / 1000,
  ],
];

const backupExitCode = 'docmirror_backup_last_exit_code';

const backupGauges: readonly Gauge[] = [
  [
    'docmirror_backup_last_success_timestamp_seconds',
    'When the newest backup was made, in seconds since 1970.',
    // Before the first backup the time is 0, so that an alert on its age fires.
    ({ backup, atMs }) => (backup === null ? 0 : atMs / 1000),
  ],
  [
    'docmirror_backup_last_success_bytes',
    'How large the newest backup is, in bytes.',
    ({ backup }) => backup?.bytes ?? 0,
  ],
  [
    'docmirror_backup_last_success_run_id',
    'The newest run that the newest backup contains.',
    ({ backup }) => backup?.runId ?? 0,
  ],
  [backupExitCode, 'What the last backup exited with.', ({ exitCode }) => exitCode],
];

/**
 * Writes the metrics of a mirror, and how its commands ended last, for node_exporter's textfile collector. `backup` also writes a
 * second file next to it.
 *
 * @param labels of all metrics; if there are none, those of the mirror's newest run.
 * @throws RefusedFileError if it can't be written there.
 */
export function writeMetricsFiles(path: string, database: string, labels: Labels, ended: EndedCommand): void {
  const figures = labelledFigures(database, labels);
  const text = ([name, help, numberOf]: Gauge, own: Labels) =>
    textOf([{ name, help, samples: () => [[numberOf(ended), own]] }], [figures]);
  // The other commands' metrics belong to the families of this one.
  const others = linesOf(path).filter(line => !line.includes(`command="${ended.command}"`));
  const families = commandGauges.map(gauge => {
    const kept = others.filter(line => line.startsWith(gauge[0]));
    return text(gauge, { command: ended.command }) + kept.join('');
  });
  writeWhole(path, [metricsText([figures]), ...families].join('\n'), publicMode);
  if (ended.command !== 'backup') return;
  const backupPath = `${path.replace(/\.prom$/, '')}-backup.prom`;
  const before = linesOf(backupPath);
  const texts = backupGauges.map(gauge => {
    // If a backup failed, the last successful one is still the newest.
    const isKept = ended.backup === null && gauge[0] !== backupExitCode;
    const kept = before.filter(line => isKept && line.startsWith(gauge[0]));
    return kept.length === 0 ? text(gauge, {}) : text(gauge, {}).replace(/^[^#].*\n/m, kept.join(''));
  });
  writeWhole(backupPath, texts.join('\n'), publicMode);
}

/** The lines of a file that an earlier command wrote; none if it can't be read. */
function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').match(/.*\n/g) ?? [];
  } catch {
    return [];
  }
}
