import { inject, test } from 'vitest';
import { type Choice, nameOf, playNights } from './nights.ts';
import { expectProven } from './verdicts.ts';

const frameworks = [
  'typeorm',
  'nestjs-typeorm-paginate',
  'sequelize',
  'mikro-orm',
  'objection',
  'knex-paginate',
  'feathers',
  'lucid',
] as const;

const choices: readonly Choice[] = [
  ...frameworks.flatMap(framework => [{ framework }, { framework, isOrderedByTimeAlone: true }]),
  // MikroORM orders webhooks by the first of their events, so each has one place.
  { framework: 'mikro-orm', variant: 'order by an event' },
];

test.concurrent.each(choices.map(choice => ({ choice, name: nameOf(choice) })))(
  'a service with $name is proven each night, row by row, without changes that are none',
  async ({ choice }) => expectProven(await playNights(inject('socketFolder'), choice)),
);
