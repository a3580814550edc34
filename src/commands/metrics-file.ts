import { readFileSync } from 'node:fs';
import type { Labels } from '../config/parse.ts';
import { mergeMetrics } from '../serve/merge-metrics.ts';
import { writeWhole } from '../store/file/atomic-file.ts';
import { metricsText } from './metrics-text.ts';

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

interface LabelledMirror {
  readonly database: string;
  readonly labels: Labels;
}

/** Everybody can read the files: the collector runs as another user, and the metrics are not secret. */
const publicMode = 0o644;

/**
 * Writes the metrics of a mirror, and how its commands ended last, for node_exporter's textfile collector. `backup` also writes a
 * second file next to it.
 *
 * @throws FileWriteError, RefusedFileError if it can't be written there.
 */
export async function writeMetricsFiles(
  path: string,
  mirror: LabelledMirror,
  ended: EndedCommand,
): Promise<void> {
  const own = commandMetrics(mirror.labels, ended);
  const others = keptLines(
    path,
    line => /^docmirror_command_/.test(line) && !line.includes(commandLabel(ended)),
  );
  const ofMirror = await metricsText([mirror]);
  writeWhole(path, mergeMetrics([ofMirror, own, `${headsOf(own)}\n${others}`]), publicMode);
  if (ended.command === 'backup') writeBackupFile(backupFile(path), mirror.labels, ended);
}

/** The file next to `acme.prom` is `acme-backup.prom`. */
function backupFile(path: string): string {
  return `${path.replace(/\.prom$/, '')}-backup.prom`;
}

/** If a backup failed, the last successful one is still the newest. */
function writeBackupFile(path: string, labels: Labels, { exitCode, atMs, backup }: EndedCommand): void {
  const made = ['last_success_timestamp_seconds', 'last_success_bytes', 'last_success_run_id'];
  const values = backup === null ? null : [String(atMs / 1000), String(backup.bytes), String(backup.runId)];
  const helps = [
    'When the newest backup was made, in seconds since 1970.',
    'How large the newest backup is, in bytes.',
    'The newest run that the newest backup contains.',
  ];
  const texts = made.map((ending, at) => {
    const name = `docmirror_backup_${ending}`;
    // Before the first backup the time is 0, so that an alert on its age fires.
    const kept = keptLines(path, line => line.startsWith(name)) || sample(name, labels, '0');
    const head = headOf(name, helps[at] ?? '');
    return values === null ? `${head}\n${kept}` : `${head}\n${sample(name, labels, values[at] ?? '')}`;
  });
  const name = 'docmirror_backup_last_exit_code';
  const code = `${headOf(name, 'What the last backup exited with.')}\n${sample(name, labels, String(exitCode))}`;
  writeWhole(path, mergeMetrics([...texts, code]), publicMode);
}

function commandMetrics(labels: Labels, { command, exitCode, atMs }: EndedCommand): string {
  const all = { ...labels, command };
  const [code, at] = ['docmirror_command_last_exit_code', 'docmirror_command_last_end_timestamp_seconds'];
  return [
    headOf(code, 'What the command exited with, the last time.'),
    sample(code, all, String(exitCode)),
    headOf(at, 'When the command ended the last time, in seconds since 1970.'),
    sample(at, all, String(atMs / 1000)),
  ].join('\n');
}

/** The metrics of the other commands in the file. */
function keptLines(path: string, isKept: (line: string) => boolean): string {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(isKept).join('\n');
  } catch {
    return '';
  }
}

function commandLabel({ command }: EndedCommand): string {
  return `command="${command}"`;
}

function headsOf(text: string): string {
  return text
    .split('\n')
    .filter(line => line.startsWith('#'))
    .join('\n');
}

function headOf(name: string, help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge`;
}

function sample(name: string, labels: Labels, value: string): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return pairs.length === 0 ? `${name} ${value}` : `${name}{${pairs.join(',')}} ${value}`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
}
