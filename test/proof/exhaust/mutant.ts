import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Core from './core.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const windowsFolder = join('src', 'proof', 'windows');
/** What the core needs of the repository. */
const copied = [
  windowsFolder,
  join('src', 'contract'),
  join('test', 'proof', 'exhaust', 'core.ts'),
  'package.json',
];

/** The guards of the core, by the names that the comments on their lines give them. */
export function guardNames(): string[] {
  return readdirSync(join(root, windowsFolder)).flatMap(file => {
    const source = readFileSync(join(root, windowsFolder, file), 'utf8');
    return [...source.matchAll(/ \/\/ guard: (.+)$/gm)].map(([, name = '']) => name);
  });
}

/** A copy of the core in which the line of one guard is replaced. */
export class Mutant implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'docmirror-windows-'));

  /** @param instead the line that replaces the guard's; empty to take the guard away. */
  constructor(name: string, instead: string) {
    for (const path of copied) cpSync(join(root, path), join(this.#folder, path), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(this.#folder, 'node_modules'));
    for (const file of readdirSync(join(this.#folder, windowsFolder))) {
      const path = join(this.#folder, windowsFolder, file);
      const lines = readFileSync(path, 'utf8').split('\n');
      const changed = lines.map(line => (line.endsWith(` // guard: ${name}`) ? instead : line));
      writeFileSync(path, changed.join('\n'));
    }
  }

  async load(): Promise<typeof Core> {
    return await import(pathToFileURL(join(this.#folder, 'test', 'proof', 'exhaust', 'core.ts')).href);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
