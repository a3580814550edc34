import { expect, test } from 'vitest';
import { everyMoment, type MomentsScene } from '../support/every-moment.ts';
import { type PaginatorName, paginators } from '../support/paginators.ts';

// Lists of two to five pages, with a change between any two answers of a run. With NIGHTS, all lengths and orders are played.

const isLong = process.env.NIGHTS !== undefined;
const honest = (Object.keys(paginators) as PaginatorName[]).filter(name => name !== 'join rows');
const lists: readonly Omit<MomentsScene, 'paginator'>[] = [
  { resource: 'webhooks', order: 'begun', count: 52 },
  { resource: 'document-exports', order: 'newest', count: 102 },
];
const orders = [
  { resource: 'webhooks', order: 'begun' },
  { resource: 'document-exports', order: 'newest' },
  { resource: 'document-exports', order: 'oldest' },
] as const;
const longer = [51, 52, 99, 100, 101, 102, 149, 230].flatMap(count =>
  orders.map(order => ({ ...order, count })),
);
const scenes: MomentsScene[] = honest.flatMap(paginator =>
  (isLong ? longer : lists).map(list => ({ paginator, ...list })),
);

test.each(scenes)(
  'a change at any moment leaves a list proven: $paginator, $resource, $order, $count records',
  async scene => {
    const faults: string[] = [];
    let played = 0;
    for await (const { name, fault } of everyMoment(scene)) {
      played++;
      if (fault !== null) faults.push(`${name}: ${fault}`);
    }
    if (isLong)
      process.stdout.write(
        `${[scene.paginator, scene.resource, scene.order, scene.count, played, faults.length].join('\t')}\n`,
      );
    expect(played).toBeGreaterThan(100);
    expect(faults).toEqual([]);
  },
  600_000,
);
