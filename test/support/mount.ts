import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

/**
 * Mounts a folder a second time, so that nobody can write it there, if that is allowed, and hands it over; what can't be mounted is
 * skipped in words.
 */
export async function onReadOnlyMount(
  source: string,
  folder: string,
  skip: (note: string) => void,
  work: (folder: string) => Promise<void>,
): Promise<void> {
  mkdirSync(folder);
  try {
    execFileSync('mount', ['--bind', source, folder], { stdio: 'ignore' });
  } catch {
    skip('only who may mount file systems can try this');
    return;
  }
  try {
    execFileSync('mount', ['-o', 'remount,ro,bind', folder], { stdio: 'ignore' });
    await work(folder);
  } finally {
    execFileSync('umount', [folder]);
  }
}
