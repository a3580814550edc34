import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import { generateKey, publicPem, readPrivateKey, readPublicKey } from '../../src/audit/keys.ts';
import { MalformedError } from '../../src/audit/malformed-error.ts';

const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
const spki = { type: 'spki', format: 'pem' } as const;
const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 });
const ed25519 = generateKeyPairSync('ed25519');

test('a key that was made is read back, and its two parts belong together', () => {
  const { privatePem, publicPem: printed } = generateKey();
  const privateKey = readPrivateKey(privatePem);
  const publicKey = readPublicKey(printed);
  const signature = sign(null, Buffer.from('text'), privateKey);
  expect(verify(null, Buffer.from('text'), publicKey, signature)).toBe(true);
  expect(publicPem(privateKey)).toBe(printed);
  expect(publicPem(publicKey)).toBe(printed);
});

test('openssl reads both parts, derives the same public one, and makes keys that are read', () => {
  const { privatePem, publicPem: printed } = generateKey();
  expect(openssl(['pkey', '-pubout'], privatePem)).toBe(printed);
  expect(openssl(['pkey', '-pubin', '-text', '-noout'], printed)).toMatch(/^ED25519 Public-Key/);
  const made = openssl(['genpkey', '-algorithm', 'ed25519'], '');
  expect(publicPem(readPrivateKey(made))).toBe(openssl(['pkey', '-pubout'], made));
});

const damaged = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n';

test.each<[string, string, RegExp]>([
  ['an RSA key', rsa.privateKey.export(pkcs8).toString(), /of type rsa; an Ed25519 key is needed/],
  [
    'an old RSA key',
    rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
    /"-----BEGIN RSA PRIVATE KEY-----"/,
  ],
  [
    'a locked key',
    ed25519.privateKey.export({ ...pkcs8, cipher: 'aes-256-cbc', passphrase: 'p' }).toString(),
    /locked by a passphrase/,
  ],
  ['a public key', ed25519.publicKey.export(spki).toString(), /it begins with "-----BEGIN PUBLIC KEY-----"/],
  ['a damaged key', damaged, /it is damaged/],
  ['any text', 'hello', /it does not have that line/],
])('%s does not sign', (_, pem, message) => {
  expect(() => readPrivateKey(pem)).toThrow(MalformedError);
  expect(() => readPrivateKey(pem)).toThrow(message);
});

test.each<[string, string, RegExp]>([
  ['an RSA key', rsa.publicKey.export(spki).toString(), /of type rsa; an Ed25519 key is needed/],
  [
    'a private key',
    ed25519.privateKey.export(pkcs8).toString(),
    /it begins with "-----BEGIN PRIVATE KEY-----"/,
  ],
  ['a damaged key', damaged.replaceAll('PRIVATE', 'PUBLIC'), /it is damaged/],
  ['any text', '', /it does not have that line/],
])('%s checks no signature', (_, pem, message) => {
  expect(() => readPublicKey(pem)).toThrow(MalformedError);
  expect(() => readPublicKey(pem)).toThrow(message);
});

function openssl(args: readonly string[], input: string): string {
  return execFileSync('openssl', args, { input, encoding: 'utf8' });
}
