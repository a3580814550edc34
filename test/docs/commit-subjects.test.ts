import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { faultsOfSubject } from '../../build/commit-subjects.ts';
import { temporaryFolder } from '../support/run-cli.ts';

test('a subject names an area, a verb and an object in 72 characters', () => {
  expect(faultsOfSubject('store/write: insert rows while pages arrive')).toEqual([]);
  expect(faultsOfSubject('sync, store/write: drop the range')).toEqual([]);
  expect(faultsOfSubject("Merge branch 'a' into b")).toEqual([]);
  expect(faultsOfSubject('Mend all')).toEqual(['not of the form "area: verb object"']);
  expect(faultsOfSubject(`docs: ${'say '.repeat(20)}`)).toEqual(['86 characters, at most 72']);
});

test('the hook refuses a message whose subject breaks a rule', async () => {
  await using folder = temporaryFolder();
  const message = join(folder.path, 'message');
  const hook = join(import.meta.dirname, '..', '..', 'build', 'hooks', 'commit-msg');
  writeFileSync(message, 'Mend all\n');
  const refused = spawnSync(hook, [message], { encoding: 'utf8' });
  expect(refused).toMatchObject({ status: 1, stdout: 'not of the form "area: verb object": Mend all\n' });
  writeFileSync(message, 'docs: say more\n');
  expect(spawnSync(hook, [message]).status).toBe(0);
});
