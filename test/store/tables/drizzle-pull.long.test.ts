import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { runCli, temporaryFolder } from '../../support/run-cli.ts';

const packages = join(import.meta.dirname, '..', '..', '..', 'node_modules');

const files = [
  ['a mirror', 'docmirror-demo.sqlite'],
  ['a share', 'docmirror-demo-share.sqlite'],
] as const;

test.each(files)(
  'drizzle-kit pull reads all tables and views of %s, with the types of their columns',
  async (_what, file) => {
    await using folder = temporaryFolder();
    const node = (...args: string[]) =>
      execFileSync(process.execPath, args, { cwd: folder.path, encoding: 'utf8' });
    expect(await runCli(['demo'], { cwd: folder.path })).toMatchObject({ code: 0 });
    symlinkSync(packages, join(folder.path, 'node_modules'));
    writeFileSync(join(folder.path, 'package.json'), '{ "type": "module" }');
    writeFileSync(
      join(folder.path, 'drizzle.config.ts'),
      `export default { dialect: 'sqlite', dbCredentials: { url: '${file}' }, out: 'pulled' };`,
    );
    node(join(packages, 'drizzle-kit', 'bin.cjs'), 'pull');

    const pulled = readFileSync(join(folder.path, 'pulled', 'schema.ts'), 'utf8');
    const tables = [...pulled.matchAll(/sqliteTable\("(\w+)"/g)].map(([, name]) => name);
    const views = [...pulled.matchAll(/sqliteView\("(\w+)", \{(.*?)\n\}\)/gs)].map(
      ([, name, columns = '']) => [name, columns.match(/(\w+)(?=\((?:"\w+")?\),?)/g)] as const,
    );
    const database = new Database(join(folder.path, file), { readonly: true });
    const namesOf = (type: 'table' | 'view') =>
      database
        .prepare("SELECT name FROM sqlite_schema WHERE type = ? AND name NOT LIKE 'sqlite%' ORDER BY name")
        .pluck()
        .all(type);
    const types = database.prepare<[string], string>(
      "SELECT iif(type LIKE 'INT%', 'integer', lower(type)) FROM pragma_table_info(?)",
    );
    // Drizzle leaves out the table in which it notes migrations.
    const migrations = '__drizzle_migrations';
    expect(tables.sort()).toEqual(namesOf('table').filter(name => name !== migrations));
    expect(views.map(([name]) => name).sort()).toEqual(namesOf('view'));
    for (const [name, columns] of views)
      expect([name, columns]).toEqual([name, types.pluck().all(`${name}`)]);
    database.close();

    writeFileSync(
      join(folder.path, 'program.ts'),
      `import Database from 'better-sqlite3';
     import { drizzle } from 'drizzle-orm/better-sqlite3';
     import { changes } from './pulled/schema.ts';
     const rows = drizzle(new Database('${file}')).select().from(changes).limit(3).all();
     const records: (string | null)[] = rows.map(({ record }) => record);
     console.log(records.length);`,
    );
    const tsc = join(packages, 'typescript', 'bin', 'tsc');
    const flags = [
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--types',
      'node',
      '--skipLibCheck',
    ];
    expect(node(tsc, ...flags, '--rewriteRelativeImportExtensions', '--outDir', 'built', 'program.ts')).toBe(
      '',
    );
    expect(node('built/program.js')).toBe('3\n');
  },
  120_000,
);
