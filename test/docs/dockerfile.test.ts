import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const text = readFileSync(join(root, 'Dockerfile'), 'utf8');
const stages = text.split(/^(?=FROM )/m).slice(1);

test('every stage begins with the one image that a release names by its digest', () => {
  expect(stages).toHaveLength(3);
  expect(stages.filter(stage => !/^FROM \$\{NODE_IMAGE\}( AS \w+)?\n/.test(stage))).toEqual([]);
  const release = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const given = [...release.matchAll(/--build-arg (\w+)=/g)].map(([, name]) => name);
  const taken = new Set([...text.matchAll(/^ARG (\w+)/gm)].map(([, name]) => name));
  expect(given.sort()).toEqual([...taken].sort());
  expect(release).toContain('NODE_IMAGE="node:24-slim@$digest"');
});

test('no layer of the last stage has what only development needs', () => {
  const [, dependencies = '', last = ''] = stages;
  expect(dependencies).toContain('npm ci --omit=dev');
  expect(last).toContain('COPY --from=dependencies /app/node_modules node_modules');
  expect(last).not.toMatch(/npm|--from=build \S+node_modules/);
});

test.each(['title', 'description', 'version', 'revision', 'licenses', 'documentation', 'base.name'])(
  'the image says its %s',
  label => {
    expect(text).toMatch(new RegExp(`org\\.opencontainers\\.image\\.${label.replace('.', '\\.')}="[^"]+"`));
  },
);
