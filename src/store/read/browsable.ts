import { type Field, kept } from '../../contract/lists.ts';

/** What connections can also be sorted by: how many exports each is the source and destination of, and when the newest was. */
const connectionUse = [
  { name: 'asSource', label: 'As source' },
  { name: 'asDestination', label: 'As destination' },
  { name: 'newestExport', label: 'Newest export' },
] as const;

/** The lists in their order, then the connections, as people and programs search them. */
export const browsables = kept.map(each => {
  const { fields, identity } = each;
  const texts = fields.filter(({ isSearched }) => isSearched);
  const isTime = (field: Field) => Number(field.filter === 'time');
  const filters: { readonly [Name in NonNullable<Field['filter']>]?: Field } = Object.fromEntries(
    fields.flatMap(field => (field.filter ? [[field.filter, field]] : [])),
  );
  const sorts = fields.filter(({ isSorted }) => isSorted).sort((a, b) => isTime(b) - isTime(a));
  const uses = each.resource === 'connections' ? connectionUse : [];
  const idName = identity.by === 'content' ? '_id' : 'id';
  const conditions = (['source', 'destination', 'kind'] as const).filter(name => filters[name] !== undefined);
  const times = filters.time === undefined ? [] : ['from', 'to'];
  return {
    ...each,
    filters,
    /** The fields that are searched for words, the title first. An endpoint is not among them: parts of it are secret. */
    texts,
    references: texts.filter(({ isReference }) => isReference),
    sorts,
    uses,
    idName,
    parameters: [...conditions, ...times, 'q', 'sort', 'order'],
    sortNames: [...[...sorts, ...uses].map(({ name }) => name), idName],
  };
});

/** A list, or the connections, as people and programs search it. */
export type Browsable = (typeof browsables)[number];

/** The list of that name, or the connections; the caller checks names first. */
export function browsableOf(resource: string): Browsable {
  return browsables.find(each => each.resource === resource) as Browsable;
}

/** The records that are wanted; null is no condition. */
export interface RecordFilter {
  /** The id of a connection, or its name in any case. */
  readonly source: string | null;
  readonly destination: string | null;
  readonly kind: string | null;
  /** A date, or a time in UTC to the second: `2026-11-20`, `2026-11-20T18:00:00`. Times before it are left out. */
  readonly from: string | null;
  /** The same for the end: times of that date, or of that second, are included. */
  readonly to: string | null;
  readonly q: string;
  /** True if a name that no connection has is a part of names. */
  readonly isByPart?: boolean;
}

/** No condition at all. */
export const noFilter = { source: null, destination: null, kind: null, from: null, to: null, q: '' };

/** The changes that are wanted. */
export interface ChangeFilter extends RecordFilter {
  readonly resource: string | null;
  readonly operation: string | null;
  readonly run: number | null;
}

/** The order of a list; `sort` is one of its `sortNames`. */
export type ListOrder = { readonly sort: string; readonly isDescending: boolean };
