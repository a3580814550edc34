import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Scene } from '../../support/scene.ts';
import { fullMirror } from './full-mirror.ts';
import { definitionsOf, redefine, withoutTypes } from './schema-editing.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await fullMirror();
});
afterAll(() => scene[Symbol.asyncDispose]());

/** A copy of the mirror with a value that its table would not take, as somebody makes who edits the schema and hides it again. */
function spoilt(name: string, table: string, assignment: string, isHidden: boolean): string {
  const path = join(scene.folder, `${name}.sqlite`);
  copyFileSync(scene.database, path);
  const sql = definitionsOf(path).get(table) ?? '';
  redefine(path, new Map([[table, withoutTypes(sql)]]));
  const database = new Database(path);
  database.exec(`UPDATE ${table} SET ${assignment} WHERE rowid = (SELECT max(rowid) FROM ${table})`);
  database.close();
  if (isHidden) redefine(path, new Map([[table, sql]]));
  return path;
}

describe.concurrent('a mirror that holds a value of another type', () => {
  test.each([
    ['connections', "_content = 'text'", ': _content is text, where docmirror writes a blob'],
    ['connections', "_extra = x'00'", ': _extra is a blob, where docmirror writes text'],
    ['record_history', "_fingerprint = 'x'", ': _fingerprint is text, where docmirror'],
    ['_list_states', '"check" = 7', ': check is an integer, where docmirror'],
    ['_known_pages', '"sum" = NULL', ': sum is null, where docmirror'],
    ['_content_sums', "digest = x'00'", ': digest is a blob, where docmirror'],
    ['sqlite_sequence', 'seq = CAST(seq AS TEXT)', ': what is counted is no integer'],
    ['sqlite_sequence', 'seq = CAST(seq AS BLOB)', ': what is counted is no integer'],
    ['sqlite_sequence', 'seq = CAST(seq AS REAL)', ': what is counted is no integer'],
  ])('(%s, %s) is told so by verify, and by backup --check', async (table, assignment, words) => {
    const named = expect.stringMatching(new RegExp(`  ${table}.*${words}`));
    const start = `${table}-${assignment.replaceAll(/\W/g, '')}`;
    const open = spoilt(`${start}-open`, table, assignment, false);
    expect(await scene.run('verify', '--database', open)).toMatchObject({
      code: 4,
      stderr: '',
      stdout: named,
    });
    const hidden = spoilt(`${start}-hidden`, table, assignment, true);
    expect(await scene.run('backup', '--check', hidden)).toMatchObject({
      code: 4,
      stderr: '',
      stdout: named,
    });
  });

  test.each([
    ['status', 'sync_run_resources', 'status = 7'],
    ['changes --since-run 0', 'webhooks', "endpoint = x'0102'"],
    ['export --out lists', 'collections', '_extra = 7'],
    ['report --out report.html', 'sync_runs', 'started_at = 7'],
    ['sync', '_known_pages', '"check" = 7'],
  ])('(%s: %s, %s) is told so in words by what stumbles over it', async (command, table, assignment) => {
    const path = spoilt(command.slice(0, 6), table, assignment, false);
    const { code, stderr } = await scene.run(...command.split(' '), '--database', path);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^docmirror: .* holds a value that docmirror did not write \(.* where docmirror writes .*\n$/m,
    );
    expect(stderr).not.toContain('    at ');
  });
});
