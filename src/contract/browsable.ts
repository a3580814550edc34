import { type Field, type keptResources, type ListDefinition, lists } from './lists.ts';

/** The filters of a list page, besides words. */
export type FilterName = 'source' | 'destination' | 'kind' | 'time';

/** A list, or the connections, as people and programs search it. */
export interface Browsable {
  readonly resource: (typeof keptResources)[number];
  readonly title: string;
  readonly table: string;
  /** The field of each filter that this list has. */
  readonly filters: Partial<Record<FilterName, Field>>;
  /** The fields that are searched for words, the title first. An endpoint is not among them: parts of it are secret. */
  readonly texts: readonly Field[];
  /** The fields whose text is a reference: an exact match comes first. */
  readonly references: readonly Field[];
  /** The fields by which it can be sorted, besides its id. */
  readonly sorts: readonly Field[];
  /** The member that contains an item's id. */
  readonly idName: 'id' | '_id';
}

// By the names of the fields, so that a new list can be searched, too.
const isReference = /Reference$/;
const isSearched = /Title$|Reference$|^name$|^description$/;
const isSorted = /DocumentTitle$|DocumentReference$|DocumentKind$|^name$|^description$/;

const name: Field = { kind: 'text', name: 'name', column: 'name' };

/** The lists in their order, then the connections. */
export const browsables: readonly Browsable[] = [
  ...lists.map(browsableList),
  {
    resource: 'connections',
    title: 'Connections',
    table: 'connections',
    filters: {},
    texts: [name],
    references: [],
    sorts: [name],
    idName: 'id',
  },
];

/** The list of that name, or the connections. Throws if there is none: the caller checks names first. */
export function browsableOf(resource: string): Browsable {
  const found = browsables.find(each => each.resource === resource);
  if (found === undefined) throw new TypeError(`There is no list named ${resource}.`);
  return found;
}

function browsableList({ resource, title, table, fields, identity }: ListDefinition): Browsable {
  const named = (wanted: string | null) => fields.find(each => each.name === wanted);
  const time = named(identity.by === 'id' ? null : identity.timeField);
  const texts = fields.filter(
    field => field.kind === 'text' && field !== time && isSearched.test(field.name),
  );
  return {
    resource,
    title,
    table,
    filters: Object.fromEntries(
      Object.entries({
        source: named('sourceConnection'),
        destination: named('destinationConnection'),
        kind: named('sourceDocumentKind'),
        time,
      }).filter(([, field]) => field !== undefined),
    ),
    texts,
    references: texts.filter(field => isReference.test(field.name)),
    sorts: [...(time === undefined ? [] : [time]), ...fields.filter(field => isSorted.test(field.name))],
    idName: identity.by === 'id' ? 'id' : '_id',
  };
}

/** Parameters by which a list, or the connections, can be filtered and sorted. */
export function parametersOf({ filters }: Browsable): string[] {
  return [
    ...(['source', 'destination', 'kind'] as const).filter(filter => filters[filter] !== undefined),
    ...(filters.time === undefined ? [] : ['from', 'to']),
    'q',
    'sort',
    'order',
  ];
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

/** No condition at all. */
export const noFilter: RecordFilter = {
  source: null,
  destination: null,
  kind: null,
  from: null,
  to: null,
  q: '',
};

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
