import { describe, expect, inject, test } from 'vitest';
import { listNames } from './database.ts';
import { type Choice, nameOf, playNights } from './nights.ts';
import { expectNothingFalse, expectUnprovenWebhooks } from './verdicts.ts';

/** A service that leaves webhooks out of its pages or counts what is no webhook, and what docmirror says of the cause. */
interface Faulty extends Choice {
  readonly cause: RegExp;
}

const faulty: readonly Faulty[] = [
  { framework: 'typeorm', variant: 'order by an event', cause: /deduce totals from pages that lack records/ },
  {
    framework: 'nestjs-typeorm-paginate',
    variant: 'order by an event',
    cause: /fewer records than their size|twice/,
  },
  {
    framework: 'nestjs-typeorm-paginate',
    variant: 'query builder with joins',
    cause: /cut the rows of a join/,
  },
  { framework: 'objection', variant: 'withGraphJoined', cause: /cut the rows of a join/ },
  { framework: 'sequelize', variant: 'no distinct', cause: /count records that it does not list/ },
];

/** Services whose pages are right, and whose totals are not. */
const miscounting: readonly Choice[] = [
  { framework: 'knex-paginate', variant: 'no isLengthAware' },
  { framework: 'knex-paginate', variant: 'limit in the count' },
];

const named = <C extends Choice>(choices: readonly C[]) =>
  choices.map(choice => ({ choice, name: nameOf(choice) }));

describe.concurrent('a service with', () => {
  test.each(named(faulty))(
    '$name is unproven each night for its cause, and loses nothing',
    async ({ choice }) =>
      expectUnprovenWebhooks(await playNights(inject('socketFolder'), choice), choice.cause),
  );

  test.each(named(miscounting))(
    '$name is never proven with a row too few or too many',
    async ({ choice }) => {
      for (const { name, lists } of await playNights(inject('socketFolder'), choice)) {
        for (const list of listNames) expectNothingFalse(lists[list], `${name}: ${list}`);
        if (name !== 'busy') expect(lists['document-exports'].missing, name).toEqual([]);
      }
    },
  );
});
