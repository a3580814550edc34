import { expect, test } from 'vitest';
import { playSeeds } from './cursor-history.ts';

test('no consumer of the changes gets too few or too many in 2,000 histories of backups and restores', () => {
  const played = playSeeds(21, 2_000);
  for (const what of ['restored', 'other mirror', 'rebuilt', 'pruned', 'cursors of 0.4'])
    expect(played[what], what).toBeGreaterThan(100);
}, 900_000);
