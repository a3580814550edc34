import { readdirSync, readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { setScene } from '../../support/scene.ts';

describe.concurrent('a mirror of a later shape', () => {
  test.each([
    ['by its version', 'PRAGMA user_version = 9999'],
    ['by its migrations', "INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('x', 99999999999999)"],
  ])('is refused in words, and left as it is (%s)', async (_name, sql) => {
    await using scene = await setScene();
    await scene.sync();
    const mirror = new Database(scene.database);
    mirror.exec(sql);
    mirror.close();
    const before = readFileSync(scene.database);
    for (const command of [['sync'], ['status'], ['verify'], ['sync', '--dry-run']]) {
      const { code, stderr, stdout } = await scene.run(...command);
      expect(stderr).toMatch(
        /^docmirror: .*mirror\.sqlite was made by a newer docmirror\. Update docmirror[^\n]*\n$/,
      );
      expect({ command, code, stdout }).toEqual({ command, code: 2, stdout: '' });
    }
    expect(readFileSync(scene.database).equals(before)).toBe(true);
    expect(readdirSync(scene.folder).some(name => name.includes('before'))).toBe(false);
  });
});
