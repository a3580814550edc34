import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeEmpty } from './run-real.ts';

/** Real files, in memory if the machine has a folder there. A power cut is not tested here. */
const root = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A folder for the mirrors of one scenario after another, each a copy of one that was made once. */
export class Disk implements Disposable {
  readonly #folder = mkdtempSync(join(root, 'docmirror-simulation-'));
  readonly #template = join(this.#folder, 'template');
  #made = 0;

  constructor() {
    mkdirSync(this.#template);
    makeEmpty(join(this.#template, fileName));
  }

  /** A place with an empty mirror. */
  place(): Place {
    const folder = join(this.#folder, String(this.#made++));
    copyFolder(this.#template, folder);
    return new Place(folder);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const fileName = 'mirror.sqlite';

/** The folder of one mirror, with all files beside it. */
export class Place implements Disposable {
  readonly #folder: string;
  readonly path: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.path = join(folder, fileName);
  }

  /** Keeps the files as they are now, as if the process died here. Shared memory dies with it. */
  snapshot(): void {
    copyFolder(this.#folder, `${this.#folder}.kept`);
  }

  /** Puts the files back as they were kept. */
  restore(): void {
    rmSync(this.#folder, { recursive: true });
    renameSync(`${this.#folder}.kept`, this.#folder);
  }

  /** Keeps a copy of the mirror alone, as a backup does. */
  backUp(run: number): void {
    copyFileSync(this.path, this.#backup(run));
  }

  /** Puts the mirror's file back as it was backed up; nothing that lay beside it then is there. */
  putBack(run: number): void {
    for (const beside of ['-wal', '-shm']) rmSync(`${this.path}${beside}`, { force: true });
    copyFileSync(this.#backup(run), this.path);
  }

  #backup(run: number): string {
    mkdirSync(`${this.#folder}.backups`, { recursive: true });
    return join(`${this.#folder}.backups`, String(run));
  }

  /** Lets a copy be read, so that what a crash left is not mended by the look at it. */
  peek<T>(read: (path: string) => T): T {
    const copy = `${this.#folder}.peek`;
    copyFolder(this.#folder, copy);
    try {
      return read(join(copy, fileName));
    } finally {
      rmSync(copy, { recursive: true });
    }
  }

  [Symbol.dispose](): void {
    for (const beside of ['', '.kept', '.peek', '.backups']) {
      rmSync(`${this.#folder}${beside}`, { recursive: true, force: true });
    }
  }
}

function copyFolder(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    if (!name.endsWith('-shm')) copyFileSync(join(from, name), join(to, name));
  }
}
