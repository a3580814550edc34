import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { currentShape } from '../../src/store/file/open.ts';
import { programFolder } from './program.ts';
import { type TemporaryFolder, temporaryFolder } from './run-cli.ts';

const root = join(import.meta.dirname, '../..');

const shapeNow = `currentShape=${currentShape}`;
const shapeLater = `currentShape=${currentShape + 1}`;

/** The version of the program that `laterDocmirror` makes. */
export const laterVersion = '99.0.0';

/** Makes the tests' program with one more migration, as the next release has one: all mirrors of the sources are older to it. */
export function laterDocmirror(): TemporaryFolder {
  const folder = temporaryFolder();
  for (const name of [programFolder, 'migrations', 'package.json'])
    cpSync(join(root, name), join(folder.path, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'));
  const edit = (name: string, change: (value: Record<string, unknown>) => object) => {
    const path = join(folder.path, name);
    writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, 'utf8')))));
  };
  edit('package.json', manifest => ({ ...manifest, version: laterVersion }));
  edit('migrations/meta/_journal.json', ({ entries, ...journal }) => {
    const migrations = entries as { readonly idx: number; readonly when: number }[];
    const newest = migrations.at(-1);
    const later = { ...newest, idx: migrations.length, when: (newest?.when ?? 0) + 1, tag: 'later' };
    return { ...journal, entries: [...migrations, later] };
  });
  // A release with a migration has the next shape.
  const program = join(folder.path, programFolder);
  for (const name of readdirSync(program).filter(file => file.endsWith('.js'))) {
    const text = readFileSync(join(program, name), 'utf8');
    if (text.includes(shapeNow)) writeFileSync(join(program, name), text.replace(shapeNow, shapeLater));
  }
  writeFileSync(join(folder.path, 'migrations/later.sql'), 'ALTER TABLE sync_runs ADD later text;\n');
  return folder;
}
