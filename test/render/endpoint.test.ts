import { describe, expect, test } from 'vitest';
import { shownEndpoint, withoutAddressSecrets } from '../../src/render/endpoint.ts';

describe('an endpoint', () => {
  test.each([
    ['https://user:pw@host.example:8443/a/b?key=1#x', 'https://host.example:8443/…'],
    ['https://host.example/secret', 'https://host.example/…'],
    ['https://host.example', 'https://host.example'],
    ['https://host.example/', 'https://host.example'],
    ['https://host.example?key=1', 'https://host.example/…'],
    ['https://host.example#key', 'https://host.example/…'],
    ['  https://user:pw@host.example/secret', 'https://host.example/…'],
    ['\u00a0\thttps://user:pw@host.example/secret', 'https://host.example/…'],
    ['HTTPS://USER:PW@HOST.EXAMPLE/SECRET', 'https://host.example/…'],
    ['https://a@b@host.example/a@b', 'https://host.example/…'],
    ['http://intranet/hook', 'http://intranet/…'],
    ['http://[2001:db8::1]:8080/hook', 'http://[2001:db8::1]:8080/…'],
    ['HTTPS:\\\\u:p@host\\x?y', 'https://host/…'],
    ['https://user:pa/ss@host.example', '…'],
    ['https://host.example;s3cr3t', '…'],
    ['s3cr3t-key', '…'],
    ['eyJhbGciOi.eyJzdWIiOi.sFlKxwRJ7w9', '…'],
    ['host.example/a?x', '…'],
    ['', ''],
  ])('%j is shown as %j', (endpoint, shown) => {
    expect(shownEndpoint(endpoint)).toBe(shown);
  });
});

test.each([
  ['see https://u:p@host.example/p?k=1#f now', 'see https://host.example/p?… now'],
  ['{"url":"https:\\/\\/u:p@host.example\\/p"}', '{"url":"https:\\/\\/host.example\\/p"}'],
  ['s3://archive/2026/08/4d.pdf', 's3://archive/2026/08/4d.pdf'],
  ['a@b:c', 'a@b:c'],
])('the text %j is shown as %j', (text, shown) => {
  expect(withoutAddressSecrets(text)).toBe(shown);
});

test('a long text takes no longer than its length says', () => {
  const text = 'x'.repeat(100_000);
  const startedAtMs = performance.now();
  expect(withoutAddressSecrets(`${text}://u:p@host/?q`)).toBe(`${text}://host/?…`);
  expect(withoutAddressSecrets(text)).toBe(text);
  expect(performance.now() - startedAtMs).toBeLessThan(2_000);
});
