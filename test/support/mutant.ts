import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** The guards in a folder of the program: lines with a name at the end, in a comment. */
export function guardNames(folder = 'src'): string[] {
  return [...filesWithGuards(folder).values()].flatMap(lines => lines.flatMap(line => nameOf(line) ?? []));
}

/** A copy of parts of the repository, in which the line of one guard is replaced. */
export class Mutant implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'docmirror-mutant-'));

  /**
   * @param copied files and folders that are needed, from the root of the repository.
   * @param instead the line that replaces the guard's; empty to take the guard away.
   * @throws if no line has that name, or more than one.
   */
  constructor(copied: readonly string[], name: string, instead: string) {
    const found = guardNames().filter(other => other === name).length;
    if (found !== 1) throw new Error(`There are ${found} guards of the name ${name}.`);
    for (const path of [...copied, 'package.json'])
      cpSync(join(root, path), join(this.folder, path), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'));
    for (const [path, lines] of filesWithGuards('src')) {
      if (!lines.some(line => nameOf(line) === name)) continue;
      const changed = lines.map(line => (nameOf(line) === name ? instead : line));
      writeFileSync(join(this.folder, path), changed.join('\n'));
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The lines of each file that has a guard. */
function filesWithGuards(folder: string): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (!path.endsWith('.ts')) continue;
    const lines = readFileSync(join(root, path), 'utf8').split('\n');
    if (lines.some(line => nameOf(line) !== null)) files.set(path, lines);
  }
  return files;
}

function nameOf(line: string): string | null {
  return / \/\/ guard: (.+)$/.exec(line)?.[1] ?? null;
}
