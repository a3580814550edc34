import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { instantMs } from '../contract/time.ts';
import type { CellValue, Column, ColumnKind } from '../store/read/cells.ts';
import { inBatches, type Rows } from './csv.ts';

type Options = ConstructorParameters<typeof ParquetWriter>[0];
type SchemaElement = Options['schema'][number];

const createdBy = 'docmirror';

/** Rows are written in groups, which readers can skip. One group is in memory at a time. */
const rowsPerGroup = 20_000;

type Convert = (value: CellValue) => unknown;

const int64 = { type: 'INT64' } as const;
const utf8 = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;
// With the old converted type alone, DuckDB takes times for those of its reader's zone.
const utc = { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' } as const;
const timestamp = { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS', logical_type: utc } as const;
const asIs: Convert = value => value;

const contents: Record<ColumnKind, readonly [Omit<SchemaElement, 'name'>, Convert]> = {
  integer: [int64, toBigInt],
  real: [{ type: 'DOUBLE' }, asIs],
  text: [utf8, asIs],
  json: [utf8, asIs],
  instant: [timestamp, instantOf],
  time: [timestamp, instantOf],
  texts: [utf8, asIs],
  integers: [int64, value => (Array.isArray(value) ? value.map(toBigInt) : null)],
};

/** Rows as a Parquet file, piece by piece. A time is a timestamp in UTC, and beside it its text if that is not all of it. */
export function* parquetPieces(columns: readonly Column[], rows: Rows): Generator<Uint8Array> {
  const fields = columns.flatMap(({ name, kind }, at) => {
    const [content, convert] = contents[kind];
    const field = { at, name, schema: schemaOf(name, kind, content), convert };
    const text = `${name}_text`;
    const exact = { at, name: text, schema: schemaOf(text, 'text', utf8), convert: inexactText };
    return kind === 'time' ? [field, exact] : [field];
  });
  const bytes = new ByteWriter();
  const schema = [{ name: 'root', num_children: fields.length }, ...fields.flatMap(field => field.schema)];
  const parquet = new ParquetWriter({ writer: bytes as Options['writer'], schema, createdBy });
  const written = () => {
    const piece = bytes.getBytes().slice();
    bytes.index = 0;
    return piece;
  };
  for (const some of inBatches(rows, rowsPerGroup)) {
    const columnData = fields.map(({ name, at, convert }) => {
      return { name, data: some.map(row => convert(row[at] ?? null)) };
    });
    parquet.write({ columnData, rowGroupSize: rowsPerGroup });
    yield written();
  }
  parquet.finish();
  const end = written();
  if (parquet.row_groups.length === 0) giveType(end);
  yield end;
}

// In Thrift's compact protocol: the header of a list in the next field, an empty one without a type, and one of structs. Behind the list
// of row groups is the field with the program's name.
const [nextIsList, empty, emptyOfStructs, nextButOneIsText] = [0x19, 0x00, 0x0c, 0x28];
const program = Buffer.from(createdBy);
const emptyGroups = Buffer.from([nextIsList, empty, nextButOneIsText, program.length, ...program]);

/** Gives the empty list of row groups its type: hyparquet-writer 0.17 leaves it out, and Rust's crate opens no file without it. */
function giveType(end: Uint8Array): void {
  const at = Buffer.from(end.buffer, end.byteOffset, end.length).lastIndexOf(emptyGroups);
  if (at >= 0) end[at + 1] = emptyOfStructs;
}

function schemaOf(name: string, kind: ColumnKind, content: Omit<SchemaElement, 'name'>): SchemaElement[] {
  if (kind !== 'texts' && kind !== 'integers') return [{ name, ...content, repetition_type: 'OPTIONAL' }];
  return [
    { name, converted_type: 'LIST', repetition_type: 'OPTIONAL', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', ...content, repetition_type: 'OPTIONAL' },
  ];
}

function toBigInt(value: unknown): bigint | null {
  return typeof value === 'number' || typeof value === 'bigint' ? BigInt(value) : null;
}

function instantOf(value: CellValue): Date | null {
  const ms = typeof value === 'string' ? instantMs(value) : null;
  return ms === null ? null : new Date(ms);
}

const exactInstant = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(\.\d{1,3})?Z$/;

/** The text if the timestamp does not represent all of it: `24:00:00`, for example, becomes the day after. */
function inexactText(value: CellValue): CellValue {
  const [, second = '?'] = exactInstant.exec(String(value)) ?? [];
  return instantOf(value)?.toISOString().startsWith(second) ? null : value;
}
