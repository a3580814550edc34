import { readFileSync } from 'node:fs';
import type { Labels } from '../config/parse.ts';
import { type Family, labelledFigures, metricsText, textOf } from '../serve/metrics.ts';
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

interface Ended extends EndedCommand {
  readonly labels: Labels;
}

function gauge(name: string, help: string, numberOf: (ended: Ended) => number | null, isOf = false) {
  const samples = (ended: Ended) =>
    [[numberOf(ended), isOf ? { command: ended.command } : {}] as const] as const;
  return { name, help, samples } satisfies Family<Ended>;
}

const commandFamilies = [
  gauge(
    'docmirror_command_last_exit_code',
    'What the command exited with, the last time.',
    ({ exitCode }) => exitCode,
    true,
  ),
  gauge(
    'docmirror_command_last_end_timestamp_seconds',
    'When the command ended the last time, in seconds since 1970.',
    ({ atMs }) => atMs / 1000,
    true,
  ),
];

const backupFamilies = [
  gauge(
    'docmirror_backup_last_success_timestamp_seconds',
    'When the newest backup was made, in seconds since 1970.',
    // Before the first backup the time is 0, so that an alert on its age fires.
    ({ backup, atMs }) => (backup === null ? 0 : atMs / 1000),
  ),
  gauge(
    'docmirror_backup_last_success_bytes',
    'How large the newest backup is, in bytes.',
    ({ backup }) => backup?.bytes ?? 0,
  ),
  gauge(
    'docmirror_backup_last_success_run_id',
    'The newest run that the newest backup contains.',
    ({ backup }) => backup?.runId ?? 0,
  ),
  gauge('docmirror_backup_last_exit_code', 'What the last backup exited with.', ({ exitCode }) => exitCode),
];

/**
 * Writes the metrics of a mirror, and how its commands ended last, for node_exporter's textfile collector. `backup` also writes a
 * second file next to it.
 *
 * @param labels of all metrics; if there are none, those of the mirror's newest run.
 * @throws RefusedFileError if it can't be written there.
 */
export function writeMetricsFiles(
  path: string,
  { database, labels }: { readonly database: string; readonly labels: Labels },
  ended: EndedCommand,
): void {
  const figures = labelledFigures(database, labels);
  const own = { ...ended, labels: figures.labels };
  const others = keptLines(
    path,
    line => line.startsWith('docmirror_command_') && !line.includes(`command="${ended.command}"`),
  );
  // The other commands' metrics belong to the families of this one.
  const families = commandFamilies.map(
    family => `${textOf([family], [own])}${others.filter(line => line.startsWith(family.name)).join('')}`,
  );
  writeWhole(path, [metricsText([figures]), ...families].join('\n'), publicMode);
  if (ended.command !== 'backup') return;
  const backupPath = `${path.replace(/\.prom$/, '')}-backup.prom`;
  const texts = backupFamilies.map(family => {
    // If a backup failed, the last successful one is still the newest.
    const kept = keptLines(backupPath, line => line.startsWith(family.name));
    if (ended.backup !== null || family.name.endsWith('exit_code') || kept.length === 0)
      return textOf([family], [own]);
    return `# HELP ${family.name} ${family.help}\n# TYPE ${family.name} gauge\n${kept.join('')}`;
  });
  writeWhole(backupPath, texts.join('\n'), publicMode);
}

/** Some lines of a file that an earlier command wrote. */
function keptLines(path: string, isKept: (line: string) => boolean): string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter(isKept)
      .map(line => `${line}\n`);
  } catch {
    return [];
  }
}
