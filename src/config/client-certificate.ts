import { createPrivateKey, X509Certificate } from 'node:crypto';
import { attempt, UsageError } from '../errors.ts';
import { readSmallFile } from './small-file.ts';

const [certName, keyName] = ['DOCMIRROR_CLIENT_CERT_FILE', 'DOCMIRROR_CLIENT_KEY_FILE'];

/**
 * Reads the certificate by which docmirror shows the service who it is, and its key, in PEM; null if neither is set. `expiresAtMs` is in
 * milliseconds since 1970. Throws a UsageError if one is missing, can't be read, or does not fit the other.
 */
export function readClientCertificate(certFile: string | null, keyFile: string | null) {
  if (certFile === null && keyFile === null) return null;
  if (certFile === null || keyFile === null)
    throw new UsageError(`${certName} and ${keyName} belong together. Set both, or neither.`);
  const [cert, key] = [readSmallFile(`${certName}: `, certFile), readSmallFile(`${keyName}: `, keyFile)];
  const first = attempt(() => new X509Certificate(cert));
  if (first === null) throw new UsageError(`${certName}: ${certFile} contains no certificate in PEM.`);
  const own = attempt(() => createPrivateKey(key));
  if (own === null)
    throw new UsageError(`${keyName}: ${keyFile} contains no private key in PEM without a passphrase.`);
  if (!first.checkPrivateKey(own))
    throw new UsageError(`${keyName}: ${keyFile} is not the key of ${certFile}.`);
  return { cert, key, expiresAtMs: Date.parse(first.validTo) };
}
