import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

const inRegistry = `
    textField('language', 'language'),
    { kind: 'integer', name: 'pageTotal', column: 'page_total' },
    connectionField('reviewerConnection', 'reviewer_connection_id'),`;
const inSchema = `
    language: text('language'),
    pageTotal: integer('page_total'),
    reviewerConnectionId: connectionId('reviewer_connection_id'),`;
const inViews = `
  reviewerConnectionName: text('reviewer_connection_name'),`;

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Node in a folder, to its end. */
export async function runNode(cwd: string, args: string[], env: Record<string, string> = {}): Promise<Ended> {
  const child = spawn(process.execPath, args, { cwd, env: { ...process.env, ...env } });
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, stdout, stderr };
}

/** Adds a line behind another one that stands there once. */
function addBehind(path: string, line: string, added: string): void {
  const parts = readFileSync(path, 'utf8').split(line);
  expect([path, parts.length]).toEqual([path, 2]);
  writeFileSync(path, parts.join(`${line}${added}`));
}

/**
 * Makes a docmirror whose shape is one later than that of the sources: a copy of them in a folder, with a new field of each kind. To
 * it, the mirrors of the sources are of an older shape.
 */
export async function growDocmirror(grown: string): Promise<void> {
  for (const name of ['src', 'migrations', 'package.json', 'drizzle.config.ts'])
    cpSync(join(root, name), join(grown, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(grown, 'node_modules'));
  addBehind(join(grown, 'src/contract/lists.ts'), "textField('exportedAt', 'exported_at'),", inRegistry);
  addBehind(join(grown, 'src/store/tables/schema.ts'), "exportedAt: text('exported_at'),", inSchema);
  addBehind(join(grown, 'src/store/tables/view-columns.ts'), '  ...documentExportFields(),', inViews);
  // A changed default makes drizzle-kit build the table anew, which others refer to and views read.
  addBehind(join(grown, 'src/store/tables/schema.ts'), "description: text('description')", ".default('')");
  const generated = await runNode(grown, [join(root, 'node_modules/drizzle-kit/bin.cjs'), 'generate']);
  expect(generated).toMatchObject({ code: 0 });
  expect(await runNode(grown, ['migrations/make-strict.ts'])).toMatchObject({ code: 0 });
}
