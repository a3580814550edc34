import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { MirrorLock } from '../../src/store/file/lock-file.ts';
import { DatabaseCopy } from '../../src/store/file/whole-file.ts';
import { runCli, sqlite, temporaryFolder } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

test('backups of one name in one second are all kept, and --keep and --list know them', async () => {
  await using scene = await setScene({}, { exports: 1 });
  const backups = join(scene.folder, 'backups');
  const databases = [1, 2, 3, 4].map(n => join(scene.folder, String(n), 'mirror.sqlite'));
  for (const database of databases) {
    mkdirSync(join(database, '..'));
    await runCli(['sync', '--database', database], { env: scene.env });
  }
  const made = await Promise.all(
    databases.map(database =>
      runCli(['backup', backups, '--keep', '2', '--database', database], { env: scene.env }),
    ),
  );
  expect(made.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  const copies = readdirSync(backups).filter(name => name.endsWith('.sqlite'));
  expect(copies).toHaveLength(4);
  const listed = JSON.parse((await scene.run('backup', '--list', backups, '--json')).stdout);
  expect(listed.backups.map(({ state }: { state: string }) => state)).toEqual(['ok', 'ok', 'ok', 'ok']);
  // The older ones of one mirror go, whatever second they are of.
  for (let n = 0; n < 3; n++)
    await runCli(['backup', backups, '--keep', '2', '--database', databases[0] as string], {
      env: scene.env,
    });
  expect(readdirSync(backups).filter(name => name.endsWith('.sqlite'))).toHaveLength(5);
});

test("a run that waited refuses the mirror that another service's run has made meanwhile", async () => {
  await using own = await setScene({}, { exports: 3 });
  await using other = await setScene({}, { exports: 5 });
  const { database } = own;
  const lock = new MirrorLock(database);
  const waiting = runCli(['sync', '--database', database, '--wait', '20s'], { env: other.env });
  await new Promise(resolve => setTimeout(resolve, 1_500));
  lock.release();
  // Whichever of the two is first, the other one is refused.
  const first = await runCli(['sync', '--database', database, '--wait', '20s'], { env: own.env });
  const codes = [first.code, (await waiting).code].sort();
  expect(codes).toEqual([0, 2]);
  const services = sqlite(database, 'SELECT DISTINCT base_url AS url FROM sync_runs');
  expect(services).toHaveLength(1);
});

test('two commands that end together are both in the metrics', async () => {
  await using scene = await setScene({}, { exports: 1 });
  await scene.sync();
  const metrics = join(scene.folder, 'docmirror.prom');
  scene.env.DOCMIRROR_METRICS_FILE = metrics;
  await Promise.all([
    scene.run('verify'),
    scene.run('backup', 'copy.sqlite'),
    scene.run('sync'),
    scene.run('verify'),
  ]);
  const ends = readFileSync(metrics, 'utf8').matchAll(/^docmirror_command_last_exit_code\{command="(\w+)"/gm);
  expect([...ends].map(([, command]) => command).sort()).toEqual(['backup', 'sync', 'verify']);
  expect(readdirSync(scene.folder).filter(name => name.includes('unfinished'))).toEqual([]);
});

test('before a database is replaced, the old one has all of its log', async () => {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'old.sqlite');
  const writer = new Database(path);
  writer.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (n)');
  writer.exec('INSERT INTO t VALUES (1)');
  const inLog = readFileSync(`${path}-wal`);
  const killed = join(folder.path, 'killed.sqlite');
  writeFileSync(killed, readFileSync(path));
  writeFileSync(`${killed}-wal`, inLog);
  writer.close();
  // The file that is to be put there is gone, as if the process had been killed before the last step.
  using copy = new DatabaseCopy(killed);
  copy[Symbol.dispose]();
  expect(() => copy.putInPlace()).toThrow();
  expect(sqlite(killed, 'SELECT n FROM t')).toEqual([{ n: 1 }]);
});

test('a token command that fails once after it worked is asked again, and every list is read', async () => {
  await using scene = await setScene({ maxPageSize: 50 }, { exports: 300 });
  const { token } = scene.service.options;
  const count = join(scene.folder, 'count');
  const script = join(scene.folder, 'token.sh');
  // The first call prints a token, the second one fails, and the later ones print another token.
  writeFileSync(
    script,
    `n=$(cat ${count} 2>/dev/null || echo 0); n=$((n+1)); echo $n > ${count}\n[ $n = 2 ] && exit 1\n[ $n = 1 ] && echo ${token} || echo ${token}-2\n`,
  );
  let answered = 0;
  scene.service.onRequest = () => {
    if (++answered === 4) scene.service.options.token = `${token}-2`;
  };
  delete scene.env.DOCMIRROR_TOKEN;
  scene.env.DOCMIRROR_TOKEN_COMMAND = `sh ${script}`;
  const run = await scene.sync();
  expect(run).toMatchObject({ code: 0, status: 'completed' });
  expect(Number(readFileSync(count, 'utf8'))).toBeGreaterThan(2);
});
