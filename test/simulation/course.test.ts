import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { Course } from './course.ts';
import { Disk } from './disk.ts';
import type { RunReport } from './run-real.ts';
import { type Crash, plainRun } from './scenario.ts';

const ended: RunReport = { exitCode: 0, status: 'completed', lists: [], error: null, wasRefused: false };

function courseTo(crash: Crash | null) {
  const disk = new Disk();
  const place = disk.place();
  return {
    course: new Course({ ...plainRun, crash }, place),
    place,
    [Symbol.dispose]: () => disk[Symbol.dispose](),
  };
}

test('files stay as they were when the process died, with what was committed and without what was not', () => {
  using scene = courseTo({ at: 'event', nth: 2, way: 'kill' });
  const { course, place } = scene;
  const namesIn = (path: string) => {
    const database = new Database(path);
    const names = database.prepare('SELECT id FROM connections ORDER BY id').pluck().all();
    database.close();
    return names;
  };
  const database = new Database(place.path);
  const insert = database.prepare(
    'INSERT INTO connections (id, _first_seen_run_id, _changed_run_id, _content) VALUES (?, 1, 1, zeroblob(16))',
  );
  insert.run(1);
  database.exec('BEGIN');
  insert.run(2);
  course.pass('event');
  course.pass('clock');
  expect(() => course.pass('event')).toThrow('dies here');
  expect(() => course.pass('request')).toThrow('dead');
  database.exec('COMMIT');
  database.close();
  expect(namesIn(place.path)).toEqual([1, 2]);

  place.restore();
  const log = `${place.path}-wal`;
  expect(existsSync(log)).toBe(true);
  expect(place.peek(namesIn)).toEqual([1]);
  expect(existsSync(log), 'the look at it mended nothing').toBe(true);
  expect(namesIn(place.path)).toEqual([1]);
});

test('a run is stopped, or meets an unforeseen error, at its moment alone', () => {
  using stopped = courseTo({ at: 'clock', nth: 2, way: 'signal' });
  stopped.course.pass('clock');
  expect(stopped.course.signal.aborted).toBe(false);
  stopped.course.pass('clock');
  expect(stopped.course.signal.aborted).toBe(true);

  using thrown = courseTo({ at: 'request', nth: 1, way: 'throw' });
  expect(() => thrown.course.pass('request')).toThrow('nobody foresaw');
  thrown.course.pass('request');
});

test('a run that throws of itself broke, and one that asks for ever is endless', () => {
  using scene = courseTo(null);
  const { course } = scene;
  expect(course.complaints(ended, 1, false)).toEqual([]);
  expect(course.complaints({ ...ended, error: new TypeError('no such thing') }, 1, false)).toMatchObject([
    { kind: 'broke' },
  ]);
  const askForEver = () => {
    for (;;) course.pass('request');
  };
  expect(askForEver).toThrow('requests');
  expect(course.complaints(ended, 1, false)).toMatchObject([{ kind: 'endless' }]);
});
