import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openInMemory } from '../src/store/file/open-to-write.ts';
import { type TableMeaning, tableMeanings } from './table-meanings.ts';

// Writes docs/tables.md: npm run docs:tables

export const tablesPath = join(import.meta.dirname, 'tables.md');

interface Column {
  readonly name: string;
  readonly type: string;
  readonly isNullable: number;
  readonly isKey: number;
}

interface Relation {
  readonly name: string;
  readonly kind: 'table' | 'view';
  readonly columns: readonly Column[];
  readonly references: ReadonlyMap<string, string>;
}

const intro = `# The tables of the mirror

<!-- Written by "npm run docs:tables" from the schema and docs/table-meanings.ts; a test checks that it is current. -->

This page lists the tables and views of the [share](querying.md), with each column's type and meaning, and an example where it has a new form. A column that
several have with one meaning is described once.

docmirror's own times are UTC in ISO 8601. Columns that begin with an underscore are docmirror's book-keeping. So are tables that begin with one:
they are in the mirror alone, and can change with any version. \`__drizzle_migrations\` lists the schemas that the file has had.
`;

/** The text of docs/tables.md. */
export function tablesText(): string {
  listed.clear();
  examples.clear();
  const relations = readRelations();
  const forAll = relations.filter(({ name }) => !name.startsWith('_'));
  const sections = (kind: Relation['kind']) => forAll.filter(each => each.kind === kind).map(sectionOf);
  const views = `## Views\n\nSHA-256 of the views: \`${hashOfViews()}\`\n`;
  return [intro, '## Tables\n', ...sections('table'), views, ...sections('view')].join('\n');
}

/** Columns without a meaning, and meanings without a column, as `table.column`. */
export function mismatches(): string[] {
  const relations = readRelations();
  const inSchema = relations.flatMap(({ name, columns }) => columns.map(column => `${name}.${column.name}`));
  const described = Object.entries(tableMeanings).flatMap(([name, { columns }]) =>
    Object.keys(columns).map(column => `${name}.${column}`),
  );
  return [
    ...inSchema.filter(name => !described.includes(name)).map(name => `${name} has no meaning`),
    ...described.filter(name => !inSchema.includes(name)).map(name => `${name} is no column`),
  ];
}

/** SHA-256 over the texts of all views, a line for each, in the order of their names, as docs/audit.md computes it. */
function hashOfViews(): string {
  const { sqlite, close } = openInMemory();
  const views = sqlite
    .prepare("SELECT sql FROM sqlite_schema WHERE type = 'view' ORDER BY name")
    .pluck()
    .all();
  close();
  return createHash('sha256')
    .update(`${views.join('\n')}\n`)
    .digest('hex');
}

function readRelations(): Relation[] {
  const { sqlite, close } = openInMemory();
  try {
    const relations = sqlite
      .prepare<[], { name: string; kind: 'table' | 'view' }>(
        `SELECT name, type AS kind FROM sqlite_schema WHERE type IN ('table', 'view')
         AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_\\_%' ESCAPE '\\'`,
      )
      .all();
    const order = Object.keys(tableMeanings);
    return relations
      .map(({ name, kind }) => ({
        name,
        kind,
        columns: sqlite
          .prepare<[string], Column>(
            'SELECT name, lower(type) AS type, NOT "notnull" AND NOT pk AS isNullable, pk AS isKey FROM pragma_table_xinfo(?)',
          )
          .all(name),
        references: new Map(
          sqlite
            .prepare<[string], [string, string]>('SELECT "from", "table" FROM pragma_foreign_key_list(?)')
            .raw()
            .all(name),
        ),
      }))
      .sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  } finally {
    close();
  }
}

/** The first relation that has a column with this row. */
const listed = new Map<string, string>();

/** A column that an earlier relation has with the same meaning is only named. */
function sectionOf(relation: Relation): string {
  const meaning: TableMeaning = tableMeanings[relation.name] ?? { about: '(no meaning)', columns: {} };
  const rows = relation.columns.map(column => {
    const [what = '(no meaning)'] = meaning.columns[column.name] ?? [];
    const key = `${column.name}: ${what}`;
    const before = listed.get(key);
    if (before === undefined) listed.set(key, relation.name);
    return { name: column.name, before, row: rowOf(relation, column, meaning) };
  });
  const shown = rows.filter(({ before }) => before === undefined).map(({ row }) => row);
  const same = Map.groupBy(
    rows.filter(({ before }) => before !== undefined),
    ({ before }) => before,
  );
  const like = [...same].map(
    ([table, names]) => `- as in \`${table}\`: ${names.map(({ name }) => `\`${name}\``).join(', ')}`,
  );
  return [`### \`${relation.name}\`\n`, `${meaning.about}\n`, ...shown, ...like, ''].join('\n');
}

/** Examples that were shown: one shows the form of a time or a number. */
const examples = new Set<string>();

function rowOf({ kind, references }: Relation, column: Column, { columns }: TableMeaning): string {
  const [meaning, example] = columns[column.name] ?? ['(no meaning)', ''];
  const target = references.get(column.name);
  const isNullable = kind === 'table' && column.isNullable === 1;
  const type = [
    `${column.type}${isNullable ? ' or null' : ''}`,
    ...(column.isKey > 0 ? ['key'] : []),
    ...(target === undefined ? [] : [`→ ${target}`]),
  ];
  const line = `- \`${column.name}\` (${type.join(', ')}): ${meaning}`;
  if (examples.has(example)) return line;
  examples.add(example);
  return `${line} (\`${example}\`)`;
}

if (import.meta.main) writeFileSync(tablesPath, tablesText());
