import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A registry that has one package of its own; for all others it sends npm to the real one. */
export interface Registry extends AsyncDisposable {
  readonly url: string;
}

/**
 * Starts a registry with a packed package, as it would be once published. npm uses the lock in a package only if the registry says that
 * there is one.
 */
export async function startRegistry(
  tarball: string,
  manifest: { version: string; name: string },
): Promise<Registry> {
  const content = readFileSync(tarball);
  const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`;
  const server = createServer(({ url = '' }, response) => {
    const here = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    if (url === `/${manifest.name}.tgz`) return response.end(content);
    if (url !== `/${manifest.name}`)
      return response.writeHead(302, { location: `https://registry.npmjs.org${url}` }).end();
    const dist = { tarball: `${here}/${manifest.name}.tgz`, integrity };
    const { name, version } = manifest;
    const versions = { [version]: { ...manifest, _hasShrinkwrap: true, dist } };
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
