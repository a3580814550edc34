import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Scene } from './scene.ts';

type Skip = (note: string) => void;
type Work = (folder: string) => Promise<void>;

/** Mounts a small file system if that is allowed, and hands its folder over; what can't be mounted is skipped in words. */
export function onMount(scene: Scene, options: string, skip: Skip, work: Work): Promise<void> {
  return mounted(join(scene.folder, 'mounted'), [['-t', 'tmpfs', '-o', options, 'tmpfs']], skip, work);
}

/** Mounts a folder a second time, so that nobody can write it there, if that is allowed. */
export function onReadOnlyMount(source: string, folder: string, skip: Skip, work: Work): Promise<void> {
  return mounted(
    folder,
    [
      ['--bind', source],
      ['-o', 'remount,ro,bind'],
    ],
    skip,
    work,
  );
}

async function mounted(
  folder: string,
  [first = [], ...more]: string[][],
  skip: Skip,
  work: Work,
): Promise<void> {
  mkdirSync(folder);
  try {
    execFileSync('mount', [...first, folder], { stdio: 'ignore' });
  } catch {
    skip('only who may mount file systems can try this');
    return;
  }
  try {
    for (const args of more) execFileSync('mount', [...args, folder], { stdio: 'ignore' });
    await work(folder);
  } finally {
    execFileSync('umount', [folder]);
  }
}
