import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Secrets } from '../../src/service/secrets.ts';

const token = 'ab+cd/ef="gh~ij';

function holding(secret = token): Secrets {
  const secrets = new Secrets();
  secrets.add(secret);
  return secrets;
}

const bytes = (text: string) => Buffer.from(text);

const encodings: [name: string, encode: (secret: string) => string][] = [
  ['plain', secret => secret],
  ['in JSON', secret => JSON.stringify(secret)],
  ['percent-encoded', secret => encodeURIComponent(secret)],
  [
    'percent-encoded, lower case',
    secret => encodeURIComponent(secret).replace(/%../g, digits => digits.toLowerCase()),
  ],
  ['base64', secret => bytes(secret).toString('base64')],
  ['base64url', secret => bytes(secret).toString('base64url')],
  ['base64 of Bearer …', secret => bytes(`Bearer ${secret}`).toString('base64')],
  ['base64 amid other text', secret => bytes(`xy${secret}z`).toString('base64')],
];

describe('a secret', () => {
  test.each(encodings)('%s is found and never shown, whatever it is made of', (_name, encode) => {
    const text = `{"note":"before ${encode(token)} after"}`;
    expect(holding().areIn(bytes(text))).toBe(true);
    expect(holding().redact(text)).toMatch(/^\{"note":"before \S*\[secret\]\S* after"\}$/);
    const secrets = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map(code => String.fromCharCode(code)),
      minLength: 8,
      maxLength: 80,
    });
    fc.assert(
      fc.property(secrets, secret => {
        const echo = `{"a":"${encode(secret)}"}`;
        return holding(secret).areIn(bytes(echo)) && holding(secret).redact(echo).includes('[secret]');
      }),
      { numRuns: 100 },
    );
  });

  test('is not seen if there is none', () => {
    const text = JSON.stringify({ note: 'ab+cd/ef="gh~i', other: 'cdefgh' });
    expect(holding().areIn(bytes(text))).toBe(false);
    expect(holding().redact(text)).toBe(text);
  });

  test('of a few characters is none, but behind its word', () => {
    const secrets = holding('short');
    expect(secrets.redact('a short text')).toBe('a short text');
    expect(secrets.redact('{"authorization":"Bearer short"}')).toBe('{"authorization":"[secret]"}');
  });
});
