import type { Paginator, TableRow } from './busy-table.ts';

/** How many records more than its size the last page can have, as Django's `orphans`. */
const orphans = 5;

/** Two statements that see one moment, for example in a transaction with snapshots. */
const plain: Paginator = ({ count, rows, between }, { index, size }) => {
  between();
  return { rows: rows(index * size, (index + 1) * size), total: count() };
};

const countThenRows: Paginator = ({ count, rows, between }, { index, size }) => {
  const total = count();
  between();
  return { rows: rows(index * size, (index + 1) * size), total };
};

const rowsThenCount: Paginator = ({ count, rows, between }, { index, size }) => {
  const shown = rows(index * size, (index + 1) * size);
  between();
  return { rows: shown, total: count() };
};

/** As TypeORM's getManyAndCount, Kaminari and will_paginate: rows are counted only if the page is full or empty. */
const deduced: Paginator = ({ count, rows, between }, { index, size }) => {
  const shown = rows(index * size, (index + 1) * size);
  between();
  const isDeduced = shown.length < size && (shown.length > 0 || index === 0);
  return { rows: shown, total: isDeduced ? index * size + shown.length : count() };
};

/** As Django's Paginator, which cuts the last page at a count, and answers with 404 behind it. */
function cutAt(orphansMax: number): Paginator {
  return ({ count, rows, between }, { index, size }) => {
    const total = count();
    between();
    const pageCount = Math.ceil(Math.max(1, total - orphansMax) / size);
    if (index >= pageCount) return null;
    const end = (index + 1) * size;
    return { rows: rows(index * size, end + orphansMax >= total ? total : end), total, pageCount };
  };
}

/** How many rows a join with its children gives for a record. */
const joinedRows = ({ reference }: TableRow) => (reference % 4 === 0 ? 2 + (reference % 3) : 1);

/** LIMIT on the rows of a join: a page has fewer records than its size, and the total counts rows. */
const join: Paginator = ({ count, rows, between }, { index, size }) => {
  const joined = () => rows(0, count()).flatMap(row => Array<TableRow>(joinedRows(row)).fill(row));
  const total = joined().length;
  between();
  const shown = joined().slice(index * size, (index + 1) * size);
  return { rows: [...new Set(shown)], total };
};

/** Paginators by what their frameworks do. All are honest but the join. */
export const paginators = {
  plain,
  deduced,
  'cut at a count': cutAt(0),
  orphans: cutAt(orphans),
  'count, then rows': countThenRows,
  'rows, then count': rowsThenCount,
  'join rows': join,
} as const satisfies Readonly<Record<string, Paginator>>;

export type PaginatorName = keyof typeof paginators;
