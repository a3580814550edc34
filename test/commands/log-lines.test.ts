import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createLogger } from '../../src/commands/logging.ts';
import { logLineForPeople } from '../../src/render/log-line.ts';
import { Secrets } from '../../src/service/secrets.ts';
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

test('a sentence of the log shows each such character as an escape, also in the name of a field', () => {
  const text = `a${String.fromCodePoint(0x1b, ...unsafe)}b`;
  const entry = {
    time: '2026-06-10T00:00:00.000Z',
    level: 'warn',
    msg: text,
    [text]: text,
    to: { at: text },
  };
  const line = logLineForPeople(JSON.stringify({ ...entry, error: { code: 'network', message: text } }));
  expect(line).not.toMatch(/(?!\n$)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
  expect(line.split('\\u202e')).toHaveLength(6);
});

test.each([false, true])('a line of the log never shows a secret; on a terminal: %s', isTTY => {
  const secrets = new Secrets();
  secrets.add('hidden-word');
  const stderr = Object.assign(new PassThrough(), { isTTY });
  const settings = { environment: {}, inEnvFile: new Set<string>(), flags: {} };
  const logger = createLogger({ logLevel: 'info', labels: {} }, { stderr, secrets, settings });
  logger.warn({ to: 'hidden-word' }, 'It said hidden-word.');
  const line = String(stderr.read());
  expect(line).toContain('It said ');
  expect(line).not.toContain('hidden-word');
});
