import { allRows, type Sqlite } from '../../tables/ask.ts';
import { type Browsable, browsables, noFilter } from '../browsable.ts';
import { alike, conditionOf, expressionOf, fold, type Side, type Values } from './filter.ts';
import { type FoundRecord, recordReader } from './find.ts';

/** A record that was found by a search; `record` is what it last said if the service no longer lists it. */
export type SearchHit = FoundRecord & { readonly isRemoved: boolean };

/** Records with all words of a text: exact references first, removed records last. It reads all rows: an index would slow syncs down. */
export function searchRecords(sqlite: Sqlite, text: string, place: { offset: number; limit: number }) {
  const wanted = fold(text.trim());
  if (wanted === '') return [];
  const values: Values = { ...place };
  const parts = browsables.flatMap((browsable, at) => {
    const { resource, table, references, filters } = browsable;
    const time = filters.time === undefined ? 'NULL' : `t.${filters.time.column}_ms`;
    const head = (side: Side) => {
      const exact = references.map(field => expressionOf(field, side));
      return `SELECT '${resource}' AS resource, ${alike(exact, wanted, values)} AS isExact, ${at} AS place`;
    };
    const words = (side: Side) => conditionOf(sqlite, browsable, { ...noFilter, q: text }, side, values);
    return [
      `${head('row')}, 0 AS isRemoved, ${time} AS time, t.id, NULL AS record FROM ${table} t WHERE ${words('row')}`,
      `${head('history')}, 1, h.valid_to_run_id, h.record_id, h.record FROM record_history h
       WHERE h.resource = '${resource}' AND h.ended_by = 'removal' AND NOT EXISTS (SELECT 1 FROM ${table} WHERE id = h.record_id)
         AND h.id = (SELECT n.id FROM record_history n WHERE n.resource = h.resource AND n.record_id = h.record_id
           ORDER BY n.valid_from_run_id DESC, n.id DESC LIMIT 1) AND ${words('history')}`,
    ];
  });
  const hits = `SELECT resource, id, record, isRemoved FROM (${parts.join(' UNION ALL ')})
    ORDER BY isExact DESC, isRemoved, place DESC, time DESC, id DESC LIMIT @limit OFFSET @offset`;
  type Hit = Omit<FoundRecord, 'ownId'> & { readonly isRemoved: number };
  return allRows<Hit>(sqlite, hits, values).map((hit): SearchHit => {
    if (hit.isRemoved === 1) return { ...hit, ownId: null, isRemoved: true };
    return { ...recordReader(sqlite, hit.resource)(hit.id), isRemoved: false };
  });
}

/** A value that a filter can have, what people call it, and how many records have it; null if that is not counted. */
export type Choice = { readonly value: string; readonly label: string; readonly count: number | null };

/** What a filter form offers by the names of its fields; users can also type others. */
export type Choices = Readonly<Record<string, readonly Choice[]>>;

/** The 300 most frequent values of each filter of a list. An empty text is left out: a form can't send it. */
export function filterChoices(sqlite: Sqlite, { filters, table }: Browsable): Choices {
  const fields = Object.entries(filters).filter(([name]) => name !== 'time');
  const found = fields.map(([name, { column, kind }]) => {
    const nameOf = kind === 'connection' ? '(SELECT name FROM connections WHERE id = value)' : 'value';
    const counts = `SELECT CAST(value AS TEXT) AS value, ${nameOf} AS label, count FROM (
      SELECT ${column} AS value, count(*) AS count FROM ${table} WHERE value <> ''
      GROUP BY 1 ORDER BY 2 DESC LIMIT 300)`;
    type Counted = Omit<Choice, 'label'> & { readonly label: string | null };
    const named = allRows<Counted>(sqlite, counts).map(({ label, ...choice }): Choice => {
      const unnamed = kind === 'connection' ? `connection ${choice.value}` : choice.value;
      return { ...choice, label: label?.trim() ? label : unnamed };
    });
    return [name, named] as const;
  });
  return Object.fromEntries(found);
}
