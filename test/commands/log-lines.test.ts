import { expect, test } from 'vitest';
import { setScene } from '../support/scene.ts';

/** What a terminal would heed or turn round: no line may have it raw. */
const unsafe = [
  0x7f, 0x80, 0x9b, 0x9f, 0x61c, 0x200e, 0x200f, 0x202a, 0x202e, 0x2028, 0x2029, 0x2066, 0x2069,
];

test('a line of the log is JSON of the same text, without a character that could control a terminal', async () => {
  await using scene = await setScene();
  const text = `a${String.fromCodePoint(...unsafe)}b`;
  const headers = { location: 'http://elsewhere.example/' };
  scene.service.options.faults = () => ({ kind: 'status', status: 302, headers });
  Object.assign(scene.env, { DOCMIRROR_LOG_LEVEL: 'debug', DOCMIRROR_METRICS_FILE: `/nowhere/${text}` });
  const { stderr } = await scene.run('sync');
  const lines = stderr.trim().split('\n');
  expect(stderr).not.toMatch(/[\u007f-\u009f\p{Bidi_Control}\u2028\u2029]/u);
  expect(lines.length).toBeGreaterThan(3);
  const said = lines.map(line => JSON.parse(line) as { msg: string });
  expect(said.map(({ msg }) => msg)).toContain('the metrics could not be written');
  expect(stderr).toContain('\\u009b');
  expect(stderr).toContain('\\u202e');
});
