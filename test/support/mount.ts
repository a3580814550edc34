import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Scene } from './scene.ts';

/** Mounts a small file system if that is allowed, and hands its folder over; what can't be mounted is skipped in words. */
export async function onMount(
  scene: Scene,
  options: string,
  skip: (note: string) => void,
  work: (folder: string) => Promise<void>,
) {
  const folder = join(scene.folder, 'mounted');
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    skip('only who may mount file systems can try this');
    return;
  }
  try {
    await work(folder);
  } finally {
    execFileSync('umount', [folder]);
  }
}

/** Mounts a folder a second time, so that nobody can write it there, if that is allowed. */
export async function onReadOnlyMount(
  source: string,
  mounted: string,
  skip: (note: string) => void,
  work: (folder: string) => Promise<void>,
) {
  mkdirSync(mounted);
  try {
    execFileSync('mount', ['--bind', source, mounted], { stdio: 'ignore' });
  } catch {
    skip('only who may mount file systems can try this');
    return;
  }
  try {
    execFileSync('mount', ['-o', 'remount,ro,bind', mounted], { stdio: 'ignore' });
    await work(mounted);
  } finally {
    execFileSync('umount', [mounted]);
  }
}
