import { arrayFields, type ListDefinition, scalarFields, timeColumnOf } from '../../contract/lists.ts';
import { rowJson } from '../tables/view-sql.ts';

/** Rows per statement: more are no faster. */
export const rowsPerInsert = 20;
/** Rows whose contents are read at once for their sum. */
const rowsPerSum = 5_000;

const drop = 'DROP TABLE IF EXISTS temp.incoming; DROP TABLE IF EXISTS temp.ends';

/** The statements of one list. */
export type ListSql = ReturnType<typeof listSql>;

/**
 * The statements by which a run stages what it reads of a list, compares it with the rows and writes it, made from the list's
 * definition. Joins are pinned by CROSS JOIN and a plus before columns: left alone, SQLite takes the index of a connection.
 */
export function listSql(list: ListDefinition) {
  const { table, identity, resource, ownerColumn } = list;
  const scalars = scalarFields(list);
  const columns = scalars.map(({ column }) => column);
  const time = timeColumnOf(list);
  const lead = time ?? 'id';
  const written = time === null ? columns : [time, ...columns];
  const arrays = arrayFields(list);
  const values = ['n', lead, ...columns, '_extra', '_content', ...(arrays.length > 0 ? ['arrays'] : [])];
  const typed = scalars.map(({ column, kind }) => `${column} ${kind === 'text' ? 'TEXT' : 'INTEGER'}`);
  typed.push(`${lead} INTEGER`);
  const row = `(${values.map(() => '?').join(', ')})`;
  const insert = `INSERT OR REPLACE INTO temp.incoming (${values.join(', ')}) VALUES `;
  const isOfIds = identity.by === 'id';
  const identifying = isOfIds
    ? []
    : [time, ...identity.fields.map(name => scalars.find(field => field.name === name)?.column)];
  const timeText = scalars.find(({ filter }) => filter === 'time')?.column;
  /** Identity fields beside the time: two texts of one instant are one time. */
  const beside = identifying.filter(column => column !== time && column !== timeText);
  const insertRows = (id: string, from: string) =>
    `INSERT INTO ${table} (id, ${written.join(', ')}, _first_seen_run_id, _changed_run_id, _extra, _content)
     SELECT ${id}, ${written.join(', ')}, @run, @run, _extra, _content FROM ${from} ORDER BY n`;
  return {
    /** Values of a staged record. */
    width: values.length,
    hasArrays: arrays.length > 0,
    /**
     * `incoming` has the versions that the mirror does not have: `n` is the number of the version, and `copies` how many rows are inserted
     * for it. `ends` has rows that end: `n` is the number of the new version, null for a removal.
     */
    create: `${drop}; CREATE TEMP TABLE incoming
        (n INTEGER PRIMARY KEY, ${typed.join(', ')}, _extra TEXT, _content BLOB, arrays TEXT, copies INTEGER NOT NULL DEFAULT 1);
      CREATE TEMP TABLE ends (id INTEGER PRIMARY KEY, n INTEGER);`,
    drop,
    insert: insert + row,
    insertMany: insert + new Array(rowsPerInsert).fill(row).join(', '),
    isFurther: 'SELECT 1 FROM temp.incoming WHERE _extra IS NOT NULL LIMIT 1',
    resetCopies: 'UPDATE temp.incoming SET copies = 1 WHERE copies <> 1',
    setCopies: 'UPDATE temp.incoming SET copies = ? WHERE n = ?',

    /** The rows of one identity: an id; or a time, its text if it is none, and the other fields. */
    rowsOfIdentity: isOfIds
      ? `SELECT id FROM ${table} WHERE id = ?`
      : `SELECT id FROM ${table} WHERE ${time} IS ? AND (${time} IS NOT NULL OR +${timeText} IS ?)
          ${beside.map(column => `AND +${column} IS ?`).join(' ')} ORDER BY id`,
    /** Rows that share their identity, and their contents: one text for each identity. */
    twins: isOfIds
      ? null
      : `SELECT json_group_array(json_array(id, lower(hex(_content)))) FROM ${table}
          WHERE ${time} IS NULL OR ${time} IN (SELECT ${time} FROM ${table} GROUP BY 1 HAVING count(*) > 1)
          GROUP BY ${time}, iif(${time} IS NULL, ${timeText}, NULL), ${beside.join(', ')} HAVING count(*) > 1`,
    /** The contents that are inserted and those that rows get, each as often. */
    incomingContents: `SELECT _content, copies + (SELECT count(*) FROM temp.ends e WHERE e.n = i.n) FROM temp.incoming i`,
    /** The first identity field in which rows that are gone differ from as many newer records; the service seems to write it otherwise. */
    changedIdentity: (isOfIds ? ['id'] : identity.fields).map(name => {
      const field = scalars.find(each => each.name === name);
      const isTime = field?.filter === 'time';
      const others = isOfIds
        ? [...columns, '_extra']
        : identifying.filter(each => each !== field?.column && !(isTime && each === time));
      const list = others.join(', ');
      const query = `WITH gone AS MATERIALIZED (SELECT value AS id FROM json_each(?)), lost AS (SELECT ${list}, count(*) AS c, min(_first_seen_run_id) AS first
          FROM ${table} WHERE id IN (SELECT id FROM gone) GROUP BY ${list}),
        came AS (SELECT ${list}, sum(c) AS c FROM (
          SELECT ${list}, copies AS c FROM temp.incoming WHERE copies > 0
          UNION ALL SELECT ${list}, 1 FROM ${table}
            WHERE _changed_run_id > (SELECT min(first) FROM lost) AND _first_seen_run_id > (SELECT min(first) FROM lost)
              AND id NOT IN (SELECT id FROM gone)) GROUP BY ${list})
        SELECT sum(min(l.c, n.c)) = (SELECT count(*) FROM gone) FROM lost l JOIN came n
          ON ${others.map(column => `n.${column} IS l.${column}`).join(' AND ')}`;
      return { name, query };
    }),

    lastId: `SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = '${table}'), 0), coalesce((SELECT max(id) FROM ${table}), 0))`,
    newestKey: `SELECT DISTINCT ${time ?? 'id'} FROM ${table} WHERE ${time ?? 'id'} IS NOT NULL ORDER BY 1 DESC LIMIT 1 OFFSET ?`,
    rowsOfKey: `SELECT id FROM ${table} WHERE ${time ?? 'id'} = ? LIMIT ?`,
    idSpan: `SELECT min(id), max(id) FROM ${table}`,
    /** The contents, keys and ids of the rows of a remembered page, each as one text. */
    known: `SELECT group_concat(hex(r._content), ''), json_group_array(r.${time ?? 'id'}), json_group_array(r.id)
      FROM json_each(?) j CROSS JOIN ${table} r ON r.id BETWEEN j.value ->> 0 AND j.value ->> 1`,

    contentOf: `SELECT _content FROM ${table} WHERE id = ?`,
    contentsOfEnds: `SELECT t._content FROM temp.ends e CROSS JOIN ${table} t ON t.id = e.id`,
    end: 'INSERT INTO temp.ends VALUES (?, ?)',
    endVersions: `INSERT INTO record_history
        (resource, record_id, first_seen_run_id, valid_from_run_id, valid_to_run_id, ended_by, record, content)
      SELECT '${resource}', t.id, t._first_seen_run_id, t._changed_run_id, @run, iif(e.n IS NULL, 'removal', 'update'),
        ${rowJson(list)}, t._content
      FROM temp.ends e CROSS JOIN ${table} t ON t.id = e.id`,
    remove: [
      ...arrays.map(array => `DELETE FROM ${array.table} WHERE ${ownerColumn} IN (SELECT id FROM temp.ends)`),
      `DELETE FROM ${table} WHERE id IN (SELECT id FROM temp.ends WHERE n IS NULL)`,
    ].join('; '),
    update: `UPDATE ${table} SET (${written.join(', ')}, _changed_run_id, _extra, _content) =
        (SELECT ${written.join(', ')}, @run, _extra, _content FROM temp.incoming
         WHERE n = (SELECT e.n FROM temp.ends e WHERE e.id = ${table}.id))
      WHERE id IN (SELECT id FROM temp.ends WHERE n IS NOT NULL)`,
    /** Inserts each staged record once, as the row that its number says. */
    insertRows: insertRows(isOfIds ? 'id' : '@base + n', 'temp.incoming WHERE copies > 0'),
    /** Inserts the rows of identical records. */
    insertCopies: `WITH RECURSIVE copy (at) AS
        (SELECT 2 UNION ALL SELECT at + 1 FROM copy WHERE at < (SELECT max(copies) FROM temp.incoming))
      ${insertRows('NULL', 'temp.incoming CROSS JOIN copy ON at <= copies WHERE copies > 1')}`,
    insertItems: arrays.map(
      (array, at) => `INSERT INTO ${array.table} (${ownerColumn}, position, ${array.column})
        SELECT t.id, a.key, a.value FROM ${table} t CROSS JOIN temp.incoming i ON ${isOfIds ? 'i.id = t.id AND ' : ''}i._content = t._content
        CROSS JOIN json_each(i.arrays, '$[${at}]') a WHERE t._changed_run_id = @run`,
    ),
    /** The last id and the contents of the next rows that a run wrote. */
    writtenAfter: `SELECT max(id), group_concat(hex(_content), '') FROM
      (SELECT id, _content FROM ${table} WHERE _changed_run_id = ? AND id > ? ORDER BY id LIMIT ${rowsPerSum})`,
    indexes: `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = '${table}' AND sql IS NOT NULL`,
  };
}
