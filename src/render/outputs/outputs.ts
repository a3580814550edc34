import { receiptShapes } from '../../audit/receipt.ts';
import { anyOf, type JsonShape, type Shape } from '../../contract/shapes.ts';
import * as files from './files.ts';
import { failureOutput, labels } from './parts.ts';
import * as records from './records.ts';
import * as runs from './runs.ts';

/** The output of a command. */
export interface Output {
  /** The flags that make the command print it. */
  readonly flags: string;
  readonly about: string;
  /** The shape of one line, if the command prints several. */
  readonly shape: Shape;
}

const json = (about: string, shape: Shape): Output => ({ flags: '--json', about, shape: withLabels(shape) });

/** All outputs for programs, by their command. Schemas, the reference and tests are made from it. */
export const outputs: Readonly<Record<string, Output>> = {
  sync: json('How the run ended.', runs.syncOutput),
  status: json('How the lists are.', runs.statusOutput),
  runs: json('The newest runs, as an array.', runs.runsOutput),
  show: json('Records with all their versions.', records.showOutput),
  rejected: json('Records that could not be read.', records.rejectedOutput),
  changes: { flags: '--format ndjson', about: 'A change a line.', shape: records.changesOutput },
  doctor: json('The checks before a run.', files.doctorOutput),
  verify: json('The result of an audit.', files.verifyOutput),
  backup: json('The copy that was made, copies that are there, or what was restored.', files.backupOutput),
  share: json('The copy that was made.', files.shareOutput),
  erase: json('The texts that were erased.', records.eraseOutput),
  'publish clickhouse': json('The rows that were sent.', records.publishClickhouseOutput),
  'audit receipts': {
    flags: '--json',
    about: 'A receipt a line, as it is stored. docs/audit.md says how each hash is made.',
    shape: anyOf(Object.values(receiptShapes)),
  },
};

/** The JSON Schema of a command's output, also of a failure if it can print one. */
export function schemaOf(command: string, { flags, about, shape }: Output): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: `docmirror ${command} ${flags}`,
    description: about,
    ...(flags === '--json' ? { anyOf: [shape, failureOutput] } : shape),
  };
}

/** The name of a command's schema in the package: `audit-receipts`. */
export function schemaName(command: string): string {
  return command.replaceAll(' ', '-');
}

/** An output with the labels, which it has if some are set. */
function withLabels(shape: JsonShape): Shape {
  if (shape.anyOf !== undefined) return { ...shape, anyOf: shape.anyOf.map(withLabels) };
  if (shape.properties === undefined || 'labels' in shape.properties) return shape;
  const own = { ...labels, description: 'the labels; left out if none are set' };
  return { ...shape, properties: { labels: own, ...shape.properties } };
}
