import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { MalformedError } from './malformed-error.ts';

/** Bytes of an Ed25519 public key. They are the last ones of its DER form. */
const publicKeyBytes = 32;

/** A new Ed25519 key: the private part as PKCS #8, the public one as SPKI, both in PEM. */
export function generateKey(): { readonly privatePem: string; readonly publicPem: string } {
  const { privateKey } = generateKeyPairSync('ed25519');
  return {
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicPem: publicPem(privateKey),
  };
}

/** The key that signs, from PKCS #8 in PEM, without a passphrase. */
export function readPrivateKey(pem: string): KeyObject {
  const label = labelOf(pem);
  if (label === 'ENCRYPTED PRIVATE KEY') {
    throw new MalformedError(
      'The private key is locked by a passphrase. Unlock it with "openssl pkey -in locked.pem -out key.pem", or make one with "docmirror audit keygen FILE".',
    );
  }
  if (label !== 'PRIVATE KEY') throw wrongLabel('private', 'PRIVATE KEY', label);
  return ed25519Only(parse(() => createPrivateKey({ key: pem, format: 'pem', type: 'pkcs8' })));
}

/** The key that checks signatures, from SPKI in PEM: what `openssl pkey -pubout` writes and `openssl pkey -pubin` reads. */
export function readPublicKey(pem: string): KeyObject {
  const label = labelOf(pem);
  // Node would accept a private key, too, but an auditor must not need one.
  if (label !== 'PUBLIC KEY') throw wrongLabel('public', 'PUBLIC KEY', label);
  return ed25519Only(parse(() => createPublicKey({ key: pem, format: 'pem', type: 'spki' })));
}

/** The public key in PEM, from either part. `openssl pkey -pubin -text -noout` shows its content. */
export function publicPem(key: KeyObject): string {
  return publicPart(key).export({ type: 'spki', format: 'pem' }).toString();
}

/** The 32 bytes of the public key, of either part. */
export function rawPublicKey(key: KeyObject): Buffer {
  return publicPart(key).export({ type: 'spki', format: 'der' }).subarray(-publicKeyBytes);
}

function publicPart(key: KeyObject): KeyObject {
  return key.type === 'private' ? createPublicKey(key) : key;
}

function labelOf(pem: string): string | null {
  return /^-----BEGIN ([A-Z0-9 ]+)-----$/m.exec(pem)?.[1] ?? null;
}

function wrongLabel(part: string, wanted: string, found: string | null): MalformedError {
  const instead = found === null ? 'it does not have that line' : `it begins with "-----BEGIN ${found}-----"`;
  return new MalformedError(`A ${part} key begins with "-----BEGIN ${wanted}-----"; ${instead}.`);
}

function parse(read: () => KeyObject): KeyObject {
  try {
    return read();
  } catch (cause) {
    throw new MalformedError("The key can't be read: it is damaged.", { cause });
  }
}

function ed25519Only(key: KeyObject): KeyObject {
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw new MalformedError(
    `The key is of type ${key.asymmetricKeyType}; an Ed25519 key is needed, as "docmirror audit keygen FILE" makes one.`,
  );
}
