import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { makeBigMirror } from '../../support/big-mirror.ts';
import { spawnCli, sqlite, temporaryFolder } from '../../support/run-cli.ts';
import { make, setScene } from '../../support/scene.ts';
import { documentExport, type SampleItem } from '../../support/stand-in.ts';

describe.concurrent('backup', () => {
  test('taken again and again while a sync writes, each is sound and is the state after one run', async () => {
    await using scene = await setScene({ maxPageSize: 500 }, { exports: 4_000, collections: 3, webhooks: 1 });
    await scene.sync();
    const { lists } = scene.service;
    for (const item of lists['document-exports'] as SampleItem[]) item.sourceDocumentTitle = 'Second';
    lists['document-exports'].push(
      ...make(3_000, n => documentExport(10_000 + n, { sourceDocumentTitle: 'Second' })),
    );
    lists.collections.pop();
    scene.service.options.latencyMs = 30;
    await using syncing = spawnCli(['sync'], { env: scene.env });
    let isDone = false;
    const ended = syncing.done.then(result => {
      isDone = true;
      return result;
    });
    const seen = new Set<string>();
    for (let n = 0, wasDone = false; !wasDone; n++) {
      wasDone = isDone;
      const path = join(scene.folder, `backup-${n}.sqlite`);
      expect(await scene.run('backup', path)).toMatchObject({ code: 0, stderr: '' });
      const [row] = sqlite(
        path,
        `SELECT count(*) AS n, count(DISTINCT source_document_title = 'Second') AS kinds,
        max(source_document_title = 'Second') AS isSecond FROM document_exports`,
      );
      expect(row?.kinds).toBe(1);
      expect(row?.n).toBe(row?.isSecond === 1 ? 7_000 : 4_000);
      seen.add(`${row?.n}`);
    }
    expect(await ended).toMatchObject({ code: 0 });
    expect([...seen]).toEqual(['4000', '7000']);
  });

  test('keeps the newest and removes older ones, and touches nothing else', async () => {
    await using scene = await setScene();
    await scene.sync();
    const folder = join(scene.folder, 'backups');
    mkdirSync(folder);
    for (const name of [
      'docmirror-20240101T000000Z.sqlite',
      'docmirror-20250101T000000Z.sqlite',
      'docmirror-20260101T000000Z.sqlite',
      'other.sqlite',
    ])
      copyFileSync(scene.database, join(folder, name));
    const leftover = join(folder, 'docmirror-20230101T000000Z.sqlite.0a1b2c3d.docmirror-unfinished');
    writeFileSync(leftover, 'killed');
    utimesSync(leftover, 1, 1);
    const { code, stdout } = await scene.run('backup', folder, '--keep', '2');
    expect(code).toBe(0);
    expect(stdout).toContain(
      'Removed docmirror-20250101T000000Z.sqlite.\nRemoved docmirror-20240101T000000Z.sqlite.\n',
    );
    const names = readdirSync(folder).sort();
    expect(names).toEqual([
      'docmirror-20260101T000000Z.sqlite',
      expect.stringMatching(/^mirror-20\d{6}T\d{6}Z\.sqlite$/),
      expect.stringMatching(/^mirror-20\d{6}T\d{6}Z\.sqlite\.json$/),
      'other.sqlite',
    ]);
  });

  test('a copy that is not sound is not kept, and takes no older one with it', async () => {
    await using scene = await setScene();
    await scene.sync();
    const folder = join(scene.folder, 'backups');
    mkdirSync(folder);
    writeFileSync(join(folder, 'docmirror-20240101T000000Z.sqlite'), 'old');
    const database = new Database(scene.database);
    database.exec("UPDATE collections SET name = 'x' WHERE id = 3");
    database.close();
    const { code, stdout, stderr } = await scene.run('backup', folder, '--keep', '1');
    expect(code).toBe(4);
    expect(stdout).toContain('  collections 3: a value was changed');
    expect(stderr).toBe(
      'docmirror: the copy is not sound, so it was not kept. Run "docmirror verify" on the mirror. [mirror_file]\n',
    );
    expect(readdirSync(folder)).toEqual(['docmirror-20240101T000000Z.sqlite']);
  });
});

describe('a backup that is killed', () => {
  /** Starts a backup of a mirror that takes a while, and waits until some of it is written. */
  async function startBackup(folder: string) {
    const database = join(folder, 'mirror.sqlite');
    makeBigMirror(database, 150_000);
    const backups = join(folder, 'backups');
    mkdirSync(backups);
    const child = spawn(process.execPath, [
      'src/cli.ts',
      'backup',
      join(backups, 'new.sqlite'),
      '--database',
      database,
    ]);
    const ended = once(child, 'exit');
    await expect.poll(() => readdirSync(backups).length, { timeout: 10_000, interval: 5 }).toBeGreaterThan(0);
    await wait(20);
    return { child, ended, backups };
  }

  test.each(['SIGKILL', 'SIGTERM'] as const)('by %s leaves no file under the final name', async signal => {
    await using folder = temporaryFolder();
    const { child, ended, backups } = await startBackup(folder.path);
    child.kill(signal);
    expect(await ended).toEqual(signal === 'SIGTERM' ? [143, null] : [null, 'SIGKILL']);
    const isLeft = (name: string) => signal === 'SIGKILL' && /\.docmirror-unfinished(-journal)?$/.test(name);
    expect(readdirSync(backups).every(isLeft)).toBe(true);
  });
});
