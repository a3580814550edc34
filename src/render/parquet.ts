import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { CellValue, Column, ColumnKind } from '../contract/cells.ts';
import { instantMs } from '../contract/time.ts';
import { inBatches } from './csv.ts';

type Writer = ConstructorParameters<typeof ParquetWriter>[0]['writer'];
type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number];

/** Rows are written in groups, which readers can skip. One group is in memory at a time. */
const rowsPerGroup = 20_000;

/** One column of the file, with the conversion of its values. */
interface FileColumn {
  readonly name: string;
  readonly schema: readonly SchemaElement[];
  convert(value: CellValue): unknown;
}

/**
 * Rows as a Parquet file, piece by piece: ids as 64-bit integers, lists as lists, and times as timestamps in UTC. The text of the time
 * is added in its own column if the timestamp can't represent all of it.
 */
export function* parquetPieces(
  columns: readonly Column[],
  rows: Iterable<readonly CellValue[]>,
): Generator<Uint8Array> {
  const fields = columns.flatMap((column, at) =>
    fileColumns[column.kind](column.name).map(field => ({ at, ...field })),
  );
  const bytes = new ByteWriter();
  const parquet = new ParquetWriter({
    writer: bytes as Writer,
    schema: [{ name: 'root', num_children: fields.length }, ...fields.flatMap(({ schema }) => schema)],
    createdBy: 'docmirror',
  });
  const written = () => {
    const piece = bytes.getBytes().slice();
    bytes.index = 0;
    return piece;
  };
  for (const some of inBatches(rows, rowsPerGroup)) {
    const columnData = fields.map(({ name, at, convert }) => ({
      name,
      data: some.map(row => convert(row[at] ?? null)),
    }));
    parquet.write({ columnData, rowGroupSize: rowsPerGroup });
    yield written();
  }
  parquet.finish();
  yield written();
}

const utf8 = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;
const text = (name: string) => [single(name, utf8, value => value)];
const timestamp = (name: string) =>
  single(name, { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' }, instantOf);

const fileColumns: Record<ColumnKind, (name: string) => FileColumn[]> = {
  integer: name => [single(name, { type: 'INT64' }, toBigInt)],
  real: name => [single(name, { type: 'DOUBLE' }, value => value)],
  text,
  json: text,
  instant: name => [timestamp(name)],
  time: name => [
    timestamp(name),
    single(`${name}_text`, utf8, value => (isExactInstant(value) ? null : value)),
  ],
  texts: name => [list(name, utf8, value => value)],
  integers: name => [
    list(name, { type: 'INT64' }, value => (Array.isArray(value) ? value.map(toBigInt) : null)),
  ],
};

type Content = Omit<SchemaElement, 'name'>;

function single(name: string, content: Content, convert: FileColumn['convert']): FileColumn {
  return { name, schema: [{ name, ...content, repetition_type: 'OPTIONAL' }], convert };
}

function list(name: string, content: Content, convert: FileColumn['convert']): FileColumn {
  const schema: SchemaElement[] = [
    { name, converted_type: 'LIST', repetition_type: 'OPTIONAL', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', ...content, repetition_type: 'OPTIONAL' },
  ];
  return { name, schema, convert };
}

function toBigInt(value: unknown): bigint | null {
  return typeof value === 'number' || typeof value === 'bigint' ? BigInt(value) : null;
}

function instantOf(value: CellValue): Date | null {
  const ms = typeof value === 'string' ? instantMs(value) : null;
  return ms === null ? null : new Date(ms);
}

const exactInstant = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(\.\d{1,3})?Z$/;

/** True if the timestamp represents all of the text: `24:00:00`, for example, becomes the day after. */
function isExactInstant(value: CellValue): boolean {
  if (typeof value !== 'string') return true;
  const [, second] = exactInstant.exec(value) ?? [];
  return second !== undefined && instantOf(value)?.toISOString().startsWith(second) === true;
}
