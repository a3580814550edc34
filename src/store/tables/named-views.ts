import {
  type ArrayField,
  arrayFields,
  type ListDefinition,
  scalarFields,
  timeColumnOf,
} from '../../contract/lists.ts';
import { arrayOf, text, timeOfRun } from './view-sql.ts';

// All by hand: the text of a view, which the file keeps.

const provenance = ['_first_seen_run_id', '_changed_run_id', '_extra'];

/** A list with the names of its connections as well as the ids, and with times as well as the runs. */
export function namedView(list: ListDefinition): string {
  return selectNamed(list, list.table);
}

/**
 * The newest export of each document. A source and a reference identify a document; an export without a reference is a document of
 * its own. A filter by either of them reaches the inner query, because the rows are numbered by exactly these two.
 */
export function latestVersionsView(list: ListDefinition): string {
  const time = timeColumnOf(list);
  const columns = ['id', ...scalarFields(list).map(({ column }) => column), time, ...provenance];
  const numbered = `(SELECT ${columns.join(', ')},
    row_number() OVER (
      PARTITION BY source_connection_id, source_document_reference, iif(source_document_reference IS NULL, id, NULL)
      ORDER BY ${time} DESC, id DESC) AS place
    FROM ${list.table})`;
  return `${selectNamed(list, numbered)} WHERE t.place = 1`;
}

function selectNamed(list: ListDefinition, rows: string): string {
  const scalars = scalarFields(list);
  const time = timeColumnOf(list);
  const references = scalars.filter(({ kind }) => kind === 'connection').map(({ column }) => column);
  const alias = (column: string) => `c${references.indexOf(column) + 1}`;
  const columns = [
    't.id',
    ...scalars.flatMap(({ kind, column }) =>
      kind === 'connection'
        ? [`t.${column}`, `${alias(column)}.name AS ${nameColumn(column)}`]
        : [`t.${column}`],
    ),
    ...(time === null ? [] : [`t.${time}`]),
    ...arrayFields(list).flatMap(field => namedArray(list, field)),
    `${timeOfRun('t._first_seen_run_id', `'${list.resource}'`)} AS first_seen_at`,
    `${timeOfRun('t._changed_run_id', `'${list.resource}'`)} AS changed_at`,
    ...provenance.map(column => `t.${column}`),
  ];
  const joins = references.map(
    column => `LEFT JOIN connections ${alias(column)} ON ${alias(column)}.id = t.${column}`,
  );
  return [`SELECT ${columns.join(', ')} FROM ${rows} t`, ...joins].join(' ');
}

function namedArray(list: ListDefinition, field: ArrayField): string[] {
  const { kind, column } = field;
  const values = `${text(arrayOf(list, field, 'value', column))} AS ${column}s`;
  if (kind === 'texts') return [values];
  const name = `(SELECT name FROM connections WHERE id = a.${column})`;
  return [values, `${text(arrayOf(list, field, 'value', name))} AS ${nameColumn(column)}s`];
}

function nameColumn(idColumn: string): string {
  return idColumn.replace(/_id$/, '_name');
}
