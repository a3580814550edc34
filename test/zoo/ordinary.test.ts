import { expect, inject, test } from 'vitest';
import { listNames } from './database.ts';
import { type Choice, type ListNight, type NightName, nameOf, playNights } from './nights.ts';

const frameworks = [
  'typeorm',
  'nestjs-typeorm-paginate',
  'sequelize',
  'mikro-orm',
  'objection',
  'knex-paginate',
] as const;

const choices: readonly Choice[] = [
  ...frameworks.flatMap(framework => [{ framework }, { framework, isOrderedByTimeAlone: true }]),
  // MikroORM orders webhooks by the first of their events, so each has one place.
  { framework: 'mikro-orm', variant: 'order by an event' },
];

/** Requests by page at most, and four more. A still night needs 1.4 times the pages of the exports: many exports share their time. */
const requestsByPage: Readonly<Record<NightName, number>> = {
  first: 1.7,
  same: 1.35,
  edits: 1.7,
  'new exports': 1.35,
  busy: 3,
  quiet: 1.7,
};

test.concurrent.each(choices.map(choice => ({ choice, name: nameOf(choice) })))(
  'a service with $name is proven each night, row by row, without changes that are none',
  async ({ choice }) => {
    for (const { name, run, lists } of await playNights(inject('socketFolder'), choice)) {
      expect(run.code, `${name}: ${run.stderr}`).toBe(0);
      const hasChanged = lists['document-exports'].changed === null;
      expect(hasChanged, `${name}: exports changed during the run`).toBe(name === 'busy');
      for (const list of listNames) {
        const { said, count, missing, extra, changed } = lists[list];
        const isIncremental = name === 'new exports' && list === 'document-exports';
        expect({ ...said, missing, extra }, `${name}: ${list}`).toMatchObject({
          completeness: isIncremental ? 'incremental' : 'proven',
          reason: null,
          missing: [],
          extra: [],
        });
        if (changed !== null) expect(said.updated, `${name}: ${list}`).toBe(changed);
        const most = isIncremental ? 2 : requestsByPage[name] * pagesOf(lists[list]) + 4;
        expect(said.requests, `${name}: ${list} of ${count}`).toBeLessThanOrEqual(most);
      }
    }
  },
);

function pagesOf({ count }: ListNight): number {
  return Math.ceil(count / 100);
}
