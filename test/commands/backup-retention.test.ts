import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { setScene } from '../support/scene.ts';

test('backups stay by age, and the list says which rule keeps each', async () => {
  await using scene = await setScene();
  expect(await scene.run('sync')).toMatchObject({ code: 0 });
  const folder = join(scene.folder, 'backups');
  const rules = ['--keep', '1', '--keep-daily', '2', '--keep-monthly', '2'];
  // Each backup becomes one of an earlier time.
  for (const stamp of ['20200105T030000Z', '20200228T030000Z', '20200228T040000Z', '20200229T040000Z']) {
    expect(await scene.run('backup', folder, '--keep', '100')).toMatchObject({ code: 0 });
    for (const name of readdirSync(folder).filter(each => !each.includes('-2020')))
      renameSync(join(folder, name), join(folder, name.replace(/\d{8}T\d{6}Z(-\d)?/, stamp)));
  }
  const listed = await scene.run('backup', '--list', folder, ...rules, '--json');
  const { backups } = JSON.parse(listed.stdout) as { backups: { path: string; keptBy: string[] }[] };
  const keptBy = Object.fromEntries(
    backups.map(each => [/2020\d{4}T\d\d/.exec(each.path)?.[0], each.keptBy]),
  );
  expect(keptBy).toEqual({
    '20200229T04': ['newest', 'daily', 'monthly'],
    '20200228T04': ['daily'],
    '20200228T03': [],
    '20200105T03': ['monthly'],
  });
  expect((await scene.run('backup', '--list', folder, ...rules)).stdout).toMatch(
    /Kept by[\s\S]*newest, daily, monthly/,
  );
  const made = await scene.run('backup', folder, ...rules, '--json');
  expect(
    (JSON.parse(made.stdout) as { removed: string[] }).removed
      .map(name => /2020\d{4}T\d\d/.exec(name)?.[0])
      .sort(),
  ).toEqual(['20200105T03', '20200228T03', '20200228T04']);
  expect(readdirSync(folder).filter(name => name.endsWith('.sqlite'))).toHaveLength(2);
});
