import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { syncScene } from '../../support/in-process.ts';
import { runProcess, type TemporaryFolder, temporaryFolder } from '../../support/run-cli.ts';
import { setScene } from '../../support/scene.ts';

// Places where a mirror, a share or a backup can't be safe.

const canMount = spawnSync('unshare', ['-m', 'true']).status === 0;

test.skipIf(!canMount)('a mirror whose file alone is mounted is refused, and its folder is not', async () => {
  await using scene = await setScene({}, { exports: 1 });
  await syncScene(scene);
  const folder = join(scene.folder, 'a folder, mounted');
  mkdirSync(folder);
  const [file, elsewhere] = [join(folder, 'm.sqlite'), join(scene.folder, 'data')];
  writeFileSync(file, '');
  mkdirSync(elsewhere);
  const mounted = async (what: string, at: string, database: string, command: string) => {
    const script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"';
    const program = [process.execPath, 'src/cli.ts', command, '--database', database];
    const env = { ...process.env, ...scene.env };
    const child = spawn('unshare', ['-m', 'sh', '-c', script, '-', what, at, ...program], { env });
    const ends = [text(child.stdout), text(child.stderr), once(child, 'close')] as const;
    const [stdout, stderr, [status]] = await Promise.all(ends);
    return { status, stdout, stderr };
  };
  for (const command of ['sync', 'doctor']) {
    const { status, stdout, stderr } = await mounted(scene.database, file, file, command);
    expect([command, status]).toEqual([command, 2]);
    expect(stdout + stderr).toMatch(/is mounted as a single file.* Mount the folder that contains it/s);
  }
  expect(readdirSync(folder)).toEqual(['m.sqlite']);
  const whole = await mounted(scene.folder, elsewhere, join(elsewhere, 'mirror.sqlite'), 'sync');
  expect(whole.status, whole.stderr).toBe(0);
});

test.skipIf(!canMount)(
  'no temporary folder is needed, also for a list that is long',
  async () => {
    await using scene = await setScene({ maxPageSize: 5_000 }, { exports: 90_000 });
    await using folder = temporaryFolder('/dev/shm');
    const run = async (...words: string[]) => {
      const none = 'mount -t tmpfs -o ro none';
      const script = `${none} /tmp && ${none} /var/tmp && cd /tmp && exec "$@"`;
      const program = [process.execPath, resolve('src/cli.ts'), ...words];
      const env = { ...process.env, ...scene.env, DOCMIRROR_DATABASE: join(folder.path, 'm.sqlite') };
      const child = spawn('unshare', ['-m', 'sh', '-c', script, '-', ...program], { env });
      const ends = [text(child.stdout), text(child.stderr), once(child, 'close')] as const;
      const [stdout, stderr, [status]] = await Promise.all(ends);
      expect([words, status], stdout + stderr).toEqual([words, 0]);
    };
    const [copy, share] = ['copy.sqlite', 'share.sqlite'].map(name => join(folder.path, name)) as [
      string,
      string,
    ];
    await run('sync', '--share', share);
    for (const words of [['verify'], ['backup', copy], ['backup', '--restore', copy]]) await run(...words);
  },
  120_000,
);

/** Without the lock daemon, Linux answers like this on NFS. */
const shim = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int refused(int fd, int command) {
  char link[64], path[4096];
  const char *under = getenv("NO_LOCKS_UNDER");
  if ((command != F_SETLK && command != F_SETLKW && command != F_GETLK) || under == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  return length >= (ssize_t)strlen(under) && strncmp(path, under, strlen(under)) == 0;
}
#define WRAP(name) \\
  int name(int fd, int command, ...) { \\
    va_list rest; va_start(rest, command); void *argument = va_arg(rest, void *); va_end(rest); \\
    if (refused(fd, command)) { errno = ENOLCK; return -1; } \\
    int (*real)(int, int, ...) = (int (*)(int, int, ...))dlsym(RTLD_NEXT, #name); \\
    return real(fd, command, argument); \\
  }
WRAP(fcntl)
WRAP(fcntl64)
`;

function shimIn(folder: TemporaryFolder): string | null {
  const [source, library] = [join(folder.path, 'shim.c'), join(folder.path, 'shim.so')];
  writeFileSync(source, shim);
  const { status } = spawnSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']);
  return status === 0 ? library : null;
}

test('a file system without locks is called that, and never another run', async ({ skip }) => {
  await using scene = await setScene({}, { exports: 1 });
  await syncScene(scene);
  await using folder = temporaryFolder();
  const library = shimIn(folder);
  if (library === null) return skip('this needs a C compiler');
  const without = join(folder.path, 'without locks');
  mkdirSync(without);
  const env = {
    ...scene.env,
    LD_PRELOAD: library,
    NO_LOCKS_UNDER: without,
    NODE_NO_WARNINGS: '1',
    DOCMIRROR_GIVE_UP_AFTER: '0',
  };
  const run = (...words: string[]) => runProcess(words, { env });
  // The shim leaves other folders alone.
  expect((await run('sync')).code).toBe(0);
  const there = join(without, 'm.sqlite');
  const words = [
    ['sync', '--database', there],
    ['sync', '--database', there, '--wait', '2s'],
    ['backup', join(without, 'copy.sqlite')],
    ['share', join(without, 'share.sqlite')],
    ['doctor', '--database', there],
  ];
  for (const each of words) {
    const { code, stdout, stderr } = await run(...each);
    expect(code, `${each}`).toBe(2);
    expect(stdout + stderr, `${each}`).toContain('is on a file system without working locks');
    expect(stdout + stderr).not.toMatch(/[Aa]nother (run|program)/);
  }
  expect(readdirSync(without).filter(name => !name.endsWith('.lock'))).toEqual([]);
  const copied = spawnSync('cp', [scene.database, there]);
  expect(copied.status).toBe(0);
  const { stderr } = await run('status', '--database', there);
  expect(stderr).toContain('is on a file system without working locks');
});
