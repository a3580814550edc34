import { type Field, type keptResources, type ListDefinition, lists } from './lists.ts';

/** What a list page can be filtered by, besides words. */
export type FilterName = 'source' | 'destination' | 'kind' | 'time';

/** A list, or the connections, as people and programs look through it. */
export interface Browsable {
  readonly resource: (typeof keptResources)[number];
  readonly title: string;
  readonly table: string;
  /** The field behind each filter that there is. */
  readonly filters: Partial<Record<FilterName, Field>>;
  /** The fields in which words are looked for, the title first. An endpoint is not among them: parts of it are secret. */
  readonly texts: readonly Field[];
  /** The fields of which a text is a reference: one that is typed exactly comes first. */
  readonly references: readonly Field[];
  /** The fields by which it can be sorted, besides its id. */
  readonly sorts: readonly Field[];
  /** The member by which an item tells its id. */
  readonly idName: 'id' | '_id';
}

// By the names of the fields, so that a list that is added can be looked through, too.
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

/** The list of that name, or the connections. Throws if there is none: names are checked at the edge. */
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

/** Which records are wanted; null is no condition. */
export interface RecordFilter {
  /** The id of a connection, or its name in any case. */
  readonly source: string | null;
  readonly destination: string | null;
  readonly kind: string | null;
  /** A date, or a time in UTC to the second, as texts begin that are not before it: `2026-11-20`, `2026-11-20T18:00:00`. */
  readonly from: string | null;
  /** The same of texts that are not after it: all of that date, or of that second. */
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

/** Which changes are wanted. */
export interface ChangeFilter extends RecordFilter {
  readonly resource: string | null;
  readonly operation: string | null;
  readonly run: number | null;
}

/** In which order; `sort` is one of `sortsOf`. */
export interface ListOrder {
  readonly sort: string;
  readonly isDescending: boolean;
}
