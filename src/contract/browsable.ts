import { type Field, fieldsOf, keptResources, lists } from './lists.ts';

/** A list, or the connections, as people and programs search it. */
export interface Browsable {
  readonly resource: (typeof keptResources)[number];
  readonly title: string;
  readonly table: string;
  readonly fields: readonly Field[];
  /** The field of each filter that this list has. */
  readonly filters: { readonly [Name in NonNullable<Field['filter']>]?: Field };
  /** The fields that are searched for words, the title first. An endpoint is not among them: parts of it are secret. */
  readonly texts: readonly Field[];
  /** The fields whose text is a reference: an exact match comes first. */
  readonly references: readonly Field[];
  /** The fields by which it can be sorted, besides its id. */
  readonly sorts: readonly Field[];
  /** The member that contains an item's id. */
  readonly idName: 'id' | '_id';
}

/** The lists in their order, then the connections. */
export const browsables: readonly Browsable[] = keptResources.map(resource => {
  const list = lists.find(each => each.resource === resource);
  const fields = fieldsOf(resource);
  const texts = fields.filter(({ isSearched }) => isSearched);
  const isTime = (field: Field) => Number(field.filter === 'time');
  return {
    resource,
    title: list?.title ?? 'Connections',
    table: list?.table ?? 'connections',
    fields,
    filters: Object.fromEntries(fields.flatMap(each => (each.filter ? [[each.filter, each]] : []))),
    texts,
    references: texts.filter(({ isReference }) => isReference),
    sorts: fields.filter(({ isSorted }) => isSorted).sort((a, b) => isTime(b) - isTime(a)),
    idName: list?.identity.by === 'content' ? '_id' : 'id',
  };
});

/** The list of that name, or the connections. Throws if there is none: the caller checks names first. */
export function browsableOf(resource: string): Browsable {
  const found = browsables.find(each => each.resource === resource);
  if (found === undefined) throw new TypeError(`There is no list named ${resource}.`);
  return found;
}

/** Parameters by which a list, or the connections, can be filtered and sorted. */
export function parametersOf({ filters }: Browsable): string[] {
  const names = (['source', 'destination', 'kind'] as const).filter(name => filters[name] !== undefined);
  return [...names, ...(filters.time === undefined ? [] : ['from', 'to']), 'q', 'sort', 'order'];
}

/** The names by which a list, or the connections, can be sorted. */
export function sortsOf({ sorts, idName }: Browsable): string[] {
  return [...sorts.map(field => field.name), idName];
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
  /** All of its words are wanted. */
  readonly q: string;
}

const none = { source: null, destination: null, kind: null, from: null, to: null };
/** No condition at all. */
export const noFilter: RecordFilter = { ...none, q: '' };

/** The changes that are wanted. */
export interface ChangeFilter extends RecordFilter {
  readonly resource: string | null;
  readonly operation: string | null;
  readonly run: number | null;
}

/** The order of a list; `sort` is one of `sortsOf`. */
export interface ListOrder {
  readonly sort: string;
  readonly isDescending: boolean;
}
