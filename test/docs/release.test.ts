import { expect, test } from 'vitest';
import { versionFaults } from '../../build/versions.ts';

const right = {
  manifest: '{"version":"1.2.3"}',
  lock: '{"version":"1.2.3","packages":{"":{"version":"1.2.3"}}}',
  changelog: '# Changelog\n\n## 1.2.3 (2026-11-21)\n\n## 1.2.2 (2026-11-01)\n',
};

test('a release is let through when all files name one version', () => {
  expect(versionFaults(right)).toEqual([]);
});

test.each([
  [{ lock: '{"version":"1.2.2","packages":{"":{"version":"1.2.3"}}}' }, 'package-lock.json'],
  [{ lock: '{"version":"1.2.3","packages":{"":{"version":"1.2.2"}}}' }, 'package-lock.json'],
  [{ changelog: '## 1.2.3 (not released)\n' }, 'CHANGELOG.md'],
  [{ changelog: '## 1.2.2 (2026-11-01)\n' }, 'CHANGELOG.md'],
  [{ changelog: '' }, 'CHANGELOG.md'],
  [{ manifest: '{"version":"1.2.4"}' }, 'package-lock.json'],
])('it is stopped by %j', (wrong, file) => {
  expect(versionFaults({ ...right, ...wrong })[0]).toContain(file);
});
