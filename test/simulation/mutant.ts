import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Edit } from './guard.ts';

const root = join(import.meta.dirname, '..', '..');
/** What the simulation needs of the repository. */
const copied = ['src', 'migrations', 'package.json', 'test/simulation'];
/** A kept scenario takes some seconds at the most, on a busy machine too. */
const timeoutMs = 120_000;

/** A copy of the program with some places changed, in a folder of its own. */
export class Mutant implements Disposable {
  readonly folder: string;

  /** @throws where a text does not stand in its file exactly once: the guard has moved, and the table must follow it. */
  constructor(edits: readonly Edit[]) {
    const changed = new Map<string, string>();
    for (const edit of edits) changed.set(edit.file, edited(changed.get(edit.file), edit));
    this.folder = mkdtempSync(join(tmpdir(), 'docmirror-mutant-'));
    for (const name of copied) cpSync(join(root, name), join(this.folder, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'));
    for (const [file, source] of changed) writeFileSync(join(this.folder, file), source);
  }

  /** Plays the case of a file in a process of its own, and returns what came of it, as `outcomesOf` tells it. */
  async play(caseFile: string): Promise<string[]> {
    const script = join(this.folder, 'test', 'simulation', 'play-case.ts');
    const options = { cwd: this.folder, timeout: timeoutMs };
    const { stdout } = await promisify(execFile)(process.execPath, [script, caseFile], options);
    return stdout.split('\n').filter(line => line !== '');
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function edited(source: string | undefined, { file, text, instead }: Edit): string {
  const parts = (source ?? readFileSync(join(root, file), 'utf8')).split(text);
  if (parts.length === 2) return parts.join(instead);
  throw new Error(`${file} must hold this once, and holds it ${parts.length - 1} times: ${text}`);
}
