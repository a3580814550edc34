import { describe, inject, test } from 'vitest';
import { whyNoDebian } from './debian.ts';
import { type Choice, nameOf, playNights } from './nights.ts';
import { expectProven, expectUnprovenWebhooks, requestsWithOrphans } from './verdicts.ts';

// The frameworks that Debian has: `sh test/zoo/debian.sh` installs them, and plays this.

const skipped = whyNoDebian();

const frameworks = ['django', 'flask', 'kaminari', 'laravel', 'doctrine'] as const;
const proven: readonly Choice[] = [
  ...frameworks.map(framework => ({ framework })),
  ...frameworks.map(framework => ({ framework, isOrderedByTimeAlone: true })),
  // Doctrine finds the ids of a page first, without a webhook twice.
  { framework: 'doctrine', variant: 'order by an event' },
];
const faulty: readonly (Choice & { cause: RegExp })[] = [
  { framework: 'django', variant: 'filter by events', cause: /out of order/ },
  { framework: 'flask', variant: 'join with events', cause: /cut the rows of a join/ },
  {
    framework: 'kaminari',
    variant: 'order by an event',
    cause: /deduce totals from pages that lack records/,
  },
  { framework: 'kaminari', variant: 'left_joins', cause: /in the list twice|in one reading/ },
  { framework: 'laravel', variant: 'join with events', cause: /count records that it does not list/ },
];
const named = <C extends Choice>(choices: readonly C[]) =>
  choices.map(choice => ({ choice, name: nameOf(choice) }));

describe.skipIf(skipped !== null)(
  `Debian's frameworks${skipped === null ? '' : ` (skipped: ${skipped})`}`,
  () => {
    test.concurrent.each(named(proven))(
      'a service with $name is proven each night, row by row, without changes that are none',
      async ({ choice }) => expectProven(await playNights(inject('socketFolder'), choice)),
    );

    test.concurrent('a service with Django whose last page can have orphans is proven each night, row by row', async () => {
      const choice = { framework: 'django', variant: 'orphans' };
      expectProven(await playNights(inject('socketFolder'), choice), requestsWithOrphans);
    });

    test.concurrent.each(named(faulty))(
      '$name is unproven each night for its cause, and loses nothing',
      async ({ choice }) =>
        expectUnprovenWebhooks(await playNights(inject('socketFolder'), choice), choice.cause),
    );
  },
);
