import { contentOf, type RecordValues } from '../../contract/content.ts';
import type { ListDefinition, Scalar } from '../../contract/lists.ts';
import type { ListTable } from '../tables/list-table.ts';

type Arrays = RecordValues['arrays'];

/**
 * The order of the elements of records' arrays. A service that joins tables gives them in no order, so an array with the same elements in
 * another order is the same array: it is kept as the mirror has it, or as the run has seen it first.
 */
export class ArrayOrders {
  readonly #list: ListDefinition;
  readonly #table: Pick<ListTable, 'find'>;
  readonly #ignored: ReadonlySet<string>;
  /** The orders that are known of each record's arrays, the mirror's first. */
  readonly #known = new Map<number, Arrays[]>();

  constructor(list: ListDefinition, table: Pick<ListTable, 'find'>, ignored: ReadonlySet<string>) {
    this.#list = list;
    this.#table = table;
    this.#ignored = ignored;
  }

  /** The arrays of a record, each in an order that is known if it has the same elements; the same object if no order is another one. */
  arrange({ id, arrays }: Pick<RecordValues, 'id' | 'arrays'>): Arrays {
    if (id === null || arrays.every(({ length }) => length < 2)) return arrays;
    const known = this.#known.get(id) ?? this.#arraysOf(id);
    this.#known.set(id, known);
    const arranged = arrays.map((array, at) => {
      const same = known.map(each => each[at] ?? []).find(each => haveSameElements(each, array));
      return same ?? array;
    });
    known.push(arranged);
    return arranged;
  }

  /** The arrays of a row, unless another program has changed it. */
  #arraysOf(id: number): Arrays[] {
    const row = this.#table.find(id);
    const isWhole = row !== null && contentOf(this.#list, row.record, this.#ignored) === row.content; // guard: a row that is as it was written
    return isWhole ? [row.record.arrays] : [];
  }
}

function haveSameElements(one: readonly Scalar[], other: readonly Scalar[]): boolean {
  if (one.length !== other.length) return false;
  const [a, b] = [one, other].map(array => array.map(element => JSON.stringify(element)).sort());
  return a?.every((element, at) => element === b?.[at]) === true; // guard: an array with the same elements
}
