import { expect, test } from 'vitest';
import { playSeeds } from './cursor-history.ts';

test('no consumer of the changes gets too few or too many, whatever is restored between its pages', () => {
  const played = playSeeds(1, 20);
  for (const what of ['restored', 'pages', 'complete', 'newest first', 'cursors of 0.4', 'gaps', 'pruned'])
    expect(played[what], what).toBeGreaterThan(0);
});
