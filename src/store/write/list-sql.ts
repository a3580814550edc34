// All by hand: TEMP tables, pinned joins and statements for many rows.
import {
  arrayFields,
  type ListDefinition,
  scalarFields,
  timeColumnOf,
  timeIndexOf,
} from '../../contract/lists.ts';

/** Rows per statement: more are no faster. */
export const rowsPerInsert = 20;

const texts = new WeakMap<ListDefinition, ReturnType<typeof make>>();

/** The statements of a list's staging tables, as SQL that is made from the list's definition once. */
export function stagingSql(list: ListDefinition): ReturnType<typeof make> {
  const known = texts.get(list) ?? make(list);
  texts.set(list, known);
  return known;
}

function make(list: ListDefinition) {
  const { table, identity } = list;
  const scalars = scalarFields(list);
  const time = timeColumnOf(list);
  const columns = scalars.map(({ column }) => column);
  const written = time === null ? columns : [...columns, time];
  const values = [...written, '_extra', '_content', ...(arrayFields(list).length > 0 ? ['arrays'] : [])];
  const type = { text: 'TEXT', integer: 'INTEGER', connection: 'INTEGER' } as const;
  const typed = scalars.map(({ column, kind }) => `${column} ${type[kind]}`);
  if (time !== null) typed.push(`${time} INTEGER`);
  const row = `(${['?', ...values.map(() => '?')].join(', ')})`;
  const insert = `INSERT OR REPLACE INTO temp.incoming (n, ${values.join(', ')}) VALUES `;
  const identifying =
    identity.by === 'id'
      ? []
      : [time, ...identity.fields.map(name => scalars.find(field => field.name === name)?.column)];
  // The plus keeps SQLite from other indexes than that of the time.
  const same = (a: string, b: string) =>
    identifying.map(column => `${column === time ? '' : '+'}${a}.${column} IS ${b}.${column}`).join(' AND ');
  return {
    hasChildren: arrayFields(list).length > 0,
    /** Values of a staged record. */
    width: values.length + 1,
    /** Records that the mirror does not have: `n` is the id or, without ids, the number of the content. */
    begin: `DROP TABLE IF EXISTS temp.incoming; DROP TABLE IF EXISTS temp.unshown;
      CREATE TEMP TABLE incoming (n INTEGER PRIMARY KEY, ${typed.join(', ')}, _extra TEXT, _content BLOB, arrays TEXT);
      CREATE TEMP TABLE unshown (id INTEGER PRIMARY KEY);`,
    end: 'DROP TABLE IF EXISTS temp.incoming; DROP TABLE IF EXISTS temp.unshown',
    insert: insert + row,
    insertMany: insert + new Array(rowsPerInsert).fill(row).join(', '),
    remove: 'DELETE FROM temp.incoming WHERE n = ?',
    content: 'SELECT lower(hex(_content)) FROM temp.incoming WHERE n = ?',
    read: `SELECT n, lower(hex(_content)), arrays, _extra, ${columns.join(', ')} FROM temp.incoming WHERE n = ?`,
    all: 'SELECT n FROM temp.incoming ORDER BY n',
    /** Staged records of a list with ids that are new versions of rows. */
    editsOfIds: `SELECT i.n FROM temp.incoming i CROSS JOIN ${table} r ON r.id = i.n ORDER BY i.n`,
    /** New versions of rows that no answer has shown. */
    editsOfUnshown: `SELECT i.n, r.id, NULL, lower(hex(r._content)) FROM temp.unshown u CROSS JOIN ${table} r ON r.id = u.id JOIN temp.incoming i ON ${same('i', 'r')} ORDER BY i.n, r.id`,
    /** New versions of rows, shown or not. */
    edits: `SELECT i.n, r.id, NULL, lower(hex(r._content)) FROM temp.incoming i CROSS JOIN ${table} r ON ${same('r', 'i')} ORDER BY i.n, r.id`,
    /** New versions of new records. */
    versions: `SELECT b.n, NULL, a.n, lower(hex(a._content)) FROM temp.incoming a JOIN temp.incoming b ON ${same('a', 'b')} WHERE a.n <> b.n ORDER BY a.n, b.n`,
    /** Inserts the staged records of a list without ids, each as the row that its number says. */
    insertAll: `INSERT INTO ${table} (id, ${written.join(', ')}, _first_seen_run_id, _changed_run_id, _extra, _content)
      SELECT @base + n, ${written.join(', ')}, @run, @run, _extra, _content FROM temp.incoming ORDER BY n`,
    lastId: `SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = '${table}'), 0), coalesce((SELECT max(id) FROM ${table}), 0))`,
    idSpan: `SELECT min(id), max(id) FROM ${table}`,
    /** The contents and times of rows that follow each other, each as one text. */
    known: `SELECT count(*), group_concat(hex(_content), ''), ${identity.by === 'id' ? "''" : `json_group_array(${scalars[timeIndexOf(list)]?.column})`}
      FROM ${table} WHERE id BETWEEN ? AND ?`,
    contentsBetween: `SELECT group_concat(hex(_content), '') FROM ${table} WHERE id BETWEEN ? AND ?`,
    isIncomingFurther: 'SELECT 1 FROM temp.incoming WHERE _extra IS NOT NULL LIMIT 1',
  };
}
