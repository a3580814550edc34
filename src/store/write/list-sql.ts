// The SQL of a run for a list: staged versions become rows, in sets.

import {
  arrayFields,
  type ListDefinition,
  scalarFields,
  timeColumnOf,
  timeFieldOf,
} from '../../contract/lists.ts';
import { keptColumns } from '../tables/ever.ts';
import { rowJson } from '../tables/view-sql.ts';

/** Rows per statement: more are no faster. */
export const rowsPerInsert = 20;
/** Rows whose contents are read at once for their sum. */
const rowsPerSum = 5_000;

const drop =
  'DROP TABLE IF EXISTS temp.incoming; DROP TABLE IF EXISTS temp.row_changes; DROP TABLE IF EXISTS temp.rejected';
/** Rows that do not stay as they are, and staged records without a noted change: updates if they have a row, or else new rows. */
const ended = "SELECT row FROM temp.row_changes WHERE change IN ('updated', 'deleted')";
const isPlain = 'record NOT IN (SELECT record FROM temp.row_changes)';

/** The statements of one list. */
export type ListSql = ReturnType<typeof listSql>;

/** The statements of a run for a list. Joins are pinned by CROSS JOIN and a plus: left alone, SQLite takes the index of a connection. */
export function listSql(list: ListDefinition) {
  const columns = columnsOf(list);
  return { ...stagingSql(list, columns), ...findingSql(list, columns), ...writingSql(list, columns) };
}

/** The columns of a list's table that have what the service says, `written`, and the key that orders them. */
function columnsOf(list: ListDefinition) {
  const time = timeColumnOf(list);
  const columns = scalarFields(list).map(({ column }) => column);
  // Two texts of one instant are one time, so the text counts only if it is none.
  const timeText = timeFieldOf(list)?.column;
  const written = time === null ? columns : [time, ...columns];
  return { time, key: time ?? 'id', timeText, written, arrays: arrayFields(list) };
}

type Columns = ReturnType<typeof columnsOf>;

/** The members of a form; `itsArrays` are its arrays as JSON. */
const formIn = (row: string, itsArrays: string, timeText = 'NULL') =>
  `${row} AS row, lower(hex(_content)) AS content, ${timeText} AS time, _extra AS extra, ${itsArrays} AS arrays`;

/** The temporary tables: `incoming` has the versions that the mirror lacks, `row_changes` what becomes of rows. */
function stagingSql(list: ListDefinition, { time, timeText, written, arrays }: Columns) {
  const { table } = list;
  const staged = ['n', 'record', ...written, '_extra', '_content', ...(arrays.length > 0 ? ['arrays'] : [])];
  const typed = scalarFields(list).map(
    ({ column, kind }) => `${column} ${kind === 'text' ? 'TEXT' : 'INTEGER'}`,
  );
  if (time !== null) typed.push(`${time} INTEGER`);
  const values = `(${staged.map(() => '?').join(', ')})`;
  const insert = `INSERT OR REPLACE INTO temp.incoming (${staged.join(', ')}) VALUES `;
  return {
    /** Values of a staged version: its number, its record's number, the columns, `_extra`, the content and the arrays, if any. */
    width: staged.length,
    hasArrays: arrays.length > 0,
    /** A staged record without a noted change is one new row, if it has no row yet. */
    create: `${drop};
      CREATE TEMP TABLE incoming
        (n INTEGER PRIMARY KEY, record INTEGER NOT NULL, ${typed.join(', ')}, _extra TEXT, _content BLOB NOT NULL, arrays TEXT);
      CREATE TEMP TABLE row_changes (row INTEGER PRIMARY KEY, record INTEGER NOT NULL, version INTEGER, change TEXT NOT NULL)`,
    drop,
    insert: insert + values,
    insertMany: insert + new Array(rowsPerInsert).fill(values).join(', '),
    staged: 'SELECT * FROM temp.incoming WHERE n = ?',
    /** Some staged versions of records that have a row. */
    stagedOfRows: `SELECT record, n FROM temp.incoming CROSS JOIN ${table} t ON t.id = record LIMIT ?`,
    /** How many records with a row keep no value but their id; of a list without ids, how many have no row. */
    replaced: replacedSql(list),
    isFurther: 'SELECT 1 FROM temp.incoming WHERE _extra IS NOT NULL LIMIT 1',
    indexStaged: 'CREATE INDEX IF NOT EXISTS temp.incoming_record ON incoming (record)',
    /** The forms of the versions of a record that are staged. */
    formsOfStaged: `SELECT ${formIn('NULL', "coalesce(arrays, '[]')", timeText)} FROM temp.incoming WHERE record = ? ORDER BY n`,
  };
}

/** Nulls and empty arrays are no values that a record keeps. */
function replacedSql(list: ListDefinition): string {
  const { table, identity, ownerColumn } = list;
  if (identity.by !== 'id') return 'SELECT count(DISTINCT record) FROM temp.incoming WHERE record < 0';
  const kept = [
    ...scalarFields(list).map(({ column }) => `i.${column} = t.${column}`),
    ...arrayFields(list).map((array, at) => {
      const element = `json_each(i.arrays, '$[${at}]') b ON b.value = a.${array.column}`;
      return `EXISTS (SELECT 1 FROM ${array.table} a JOIN ${element} WHERE a.${ownerColumn} = t.id)`;
    }),
    `EXISTS (SELECT 1 FROM json_each(i._extra) a JOIN json_each(t._extra) b ON a.key = b.key AND a.value = b.value)`,
  ];
  return `SELECT count(DISTINCT record) FROM temp.incoming i CROSS JOIN ${table} t ON t.id = record
    WHERE NOT (${kept.map(each => `coalesce(${each}, 0)`).join(' OR ')})`;
}

/** What finds rows. */
function findingSql(list: ListDefinition, { time, key, timeText, arrays }: Columns) {
  const { table, identity, ownerColumn } = list;
  const scalars = scalarFields(list);
  const columnOf = (name: string) => scalars.find(field => field.name === name)?.column ?? name;
  const identifying = identity.by === 'id' ? [] : identity.fields.map(columnOf);
  const isSame = (column: string) =>
    column === timeText ? `(${time} IS NOT NULL OR +${column} IS ?)` : `+${column} IS ?`;
  const identityIn = identifying.map(column =>
    column === timeText ? `iif(${time} IS NULL, ${column}, NULL)` : column,
  );
  const itemsOfRow = arrays.map(
    items =>
      `json((SELECT json_group_array(${items.column} ORDER BY position) FROM ${items.table} WHERE ${ownerColumn} = ${table}.id))`,
  );
  return {
    /** The form of the first row of an identity: of a key, and the fields of the identity. The other columns are those of the least id. */
    formOfIdentity: `SELECT ${formIn('min(id)', `json_array(${itemsOfRow})`, timeText)} FROM ${table}
      WHERE ${[`${key} IS ?`, ...identifying.map(isSame)].join(' AND ')} HAVING min(id) IS NOT NULL`,
    /** The rows of each identity that has several, and their contents; from one key to another, and at last those without a key. */
    duplicates:
      identity.by === 'id'
        ? null
        : `SELECT json_group_array(json_object('row', id, 'content', lower(hex(_content)))) FROM ${table}
            WHERE ${time} IN (SELECT ${time} FROM ${table} WHERE ${time} >= @from AND ${time} < @to GROUP BY 1 HAVING count(*) > 1)
              OR (${time} IS NULL AND @to = 9e999)
            GROUP BY ${time}, ${identityIn.join(', ')} HAVING count(*) > 1`,
    lastId: `SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = '${table}'), 0), coalesce((SELECT max(id) FROM ${table}), 0))`,
    newestKey: `SELECT DISTINCT ${key} FROM ${table} WHERE ${key} IS NOT NULL ORDER BY 1 DESC LIMIT 1 OFFSET ?`,
    /** The keys that several rows share, the least first. SQLite counts them: a step for each key takes seven times as long. */
    sharedKeys: `SELECT json_group_array(key) AS keys, json_group_array(count) AS counts FROM
      (SELECT ${key} AS key, count(*) AS count FROM ${table} WHERE ${key} IS NOT NULL GROUP BY ${key} HAVING count(*) > 1 ORDER BY ${key})`,
    countBetween: `SELECT count(*) FROM ${table} WHERE ${key} >= ? AND ${key} < ?`,
    rowsOfKey: `SELECT id FROM ${table} WHERE ${key} = ? LIMIT ?`,
    idSpan: `SELECT min(id) AS least, max(id) AS most FROM ${table}`,
    contentOf: `SELECT _content FROM ${table} WHERE id = ?`,
    /** The newest run that wrote some of the rows of remembered items, their contents one after the other, and their keys. */
    known: `SELECT max(r._changed_run_id) AS run, CAST(group_concat(r._content, '') AS BLOB) AS contents, json_group_array(r.${key}) AS keys
      FROM json_each(?) j CROSS JOIN ${table} r ON r.id BETWEEN j.value ->> 0 AND j.value ->> 1`,
    indexes: `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = '${table}' AND sql IS NOT NULL`,
  };
}

/** What writes rows by their changes. */
function writingSql(list: ListDefinition, { written, arrays }: Columns) {
  const kept = keptColumns(list);
  const { table, identity, resource, ownerColumn } = list;
  const newRow = identity.by === 'id' ? 'record' : '@base + n';
  const insertRows = (row: string, from: string) =>
    `INSERT INTO ${table} (id, ${written.join(', ')}, _first_seen_run_id, _changed_run_id, _extra, _content)
     SELECT ${row}, ${written.join(', ')}, @run, @run, _extra, _content FROM ${from}`;
  return {
    change:
      'INSERT INTO temp.row_changes (row, record, version, change) VALUES (@row, @record, @version, @change)',
    /** The rows of which one other version was shown, and nothing else. */
    plainUpdates: `INSERT INTO temp.row_changes SELECT t.id, record, n, 'updated' FROM temp.incoming CROSS JOIN ${table} t ON t.id = record WHERE ${isPlain}`,
    contentsOfEnded: `SELECT _content FROM ${table} WHERE id IN (${ended})`,
    endVersions: `INSERT INTO record_history
        (resource, record_id, first_seen_run_id, valid_from_run_id, valid_to_run_id, ended_by, record, content${kept.map(column => `, ${column}`).join('')})
      SELECT '${resource}', t.id, t._first_seen_run_id, t._changed_run_id, @run, iif(c.change = 'deleted', 'removal', 'update'),
        ${rowJson(list)}, t._content${kept.map(column => `, iif(c.change = 'deleted', t.${column}, NULL)`).join('')}
      FROM temp.row_changes c CROSS JOIN ${table} t ON t.id = c.row WHERE c.change IN ('updated', 'deleted')`,
    remove: [
      ...arrays.map(array => `DELETE FROM ${array.table} WHERE ${ownerColumn} IN (${ended})`),
      `DELETE FROM ${table} WHERE id IN (SELECT row FROM temp.row_changes WHERE change = 'deleted')`,
    ].join('; '),
    update: `UPDATE ${table} SET (${written.join(', ')}, _changed_run_id, _extra, _content) =
        (SELECT ${written.join(', ')}, @run, _extra, _content FROM temp.incoming
         WHERE n = (SELECT version FROM temp.row_changes WHERE row = ${table}.id))
      WHERE id IN (SELECT row FROM temp.row_changes WHERE change = 'updated')`,
    /** A new row has the number of its version behind those of all rows before, or its id. */
    insertPlain: insertRows(newRow, `temp.incoming WHERE ${isPlain} ORDER BY n`),
    insertAdded: insertRows(
      'row',
      "temp.row_changes c CROSS JOIN temp.incoming ON n = c.version WHERE change = 'inserted' ORDER BY row",
    ),
    insertItems: arrays.map(
      (array, at) => `INSERT INTO ${array.table} (${ownerColumn}, position, ${array.column})
        WITH written (row, n) AS (SELECT ${newRow}, n FROM temp.incoming WHERE ${isPlain}
          UNION ALL SELECT row, version FROM temp.row_changes WHERE change IN ('updated', 'inserted'))
        SELECT w.row, a.key, a.value FROM written w CROSS JOIN temp.incoming i ON i.n = w.n CROSS JOIN json_each(i.arrays, '$[${at}]') a`,
    ),
    /** The last id and the contents of the next rows that a run wrote. */
    writtenAfter: `SELECT max(id), group_concat(hex(_content), '') FROM
      (SELECT id, _content FROM ${table} WHERE _changed_run_id = ? AND id > ? ORDER BY id LIMIT ${rowsPerSum})`,
  };
}
