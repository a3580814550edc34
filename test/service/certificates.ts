import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TemporaryFolder, temporaryFolder } from '../support/run-cli.ts';

/** A key and its certificate, PEM. */
export interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

/** A certificate authority of a company's own, in a folder that goes with it. */
export interface Authority extends AsyncDisposable {
  /** The file of its certificate. */
  readonly file: string;
  readonly folder: string;
  /** Makes a certificate for these names (`DNS:localhost`, for example), valid for that many days. -1 has already expired. */
  issue(names: string, days?: number): KeyPair;
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

export function makeAuthority(name = 'Example Authority'): Authority {
  const folder: TemporaryFolder = temporaryFolder();
  const at = (file: string) => join(folder.path, file);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe', timeout: 20_000 });
  const subject = `/O=Example/CN=${name}`;
  openssl('req', '-x509', ...newKey, '-keyout', at('ca.key'), '-out', at('ca.pem'), '-subj', subject);
  return {
    file: at('ca.pem'),
    folder: folder.path,
    issue(names, days = 30) {
      openssl('req', ...newKey, '-keyout', at('key'), '-out', at('csr'), '-subj', '/CN=the service');
      writeFileSync(at('names'), `subjectAltName=${names}`);
      const by = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-extfile', at('names')];
      openssl('x509', '-req', '-in', at('csr'), ...by, '-out', at('cert'), '-days', String(days));
      return { key: readFileSync(at('key'), 'utf8'), cert: readFileSync(at('cert'), 'utf8') };
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
