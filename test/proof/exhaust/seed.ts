import { spawnSync } from 'node:child_process';

/**
 * Chooses the worlds that are played if there are too many for all: the commit, so that others are played the next time. With
 * `SEED=… npm run …` those of another time are played again.
 */
export const seed: string = process.env.SEED ?? commit();

function commit(): string {
  const { stdout } = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' });
  return stdout?.trim() || 'no commit';
}
