import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer, TLSSocket, type TlsOptions } from 'node:tls';

/** A server on a free port of this machine, with the sockets that it must end itself. */
interface Listening extends AsyncDisposable {
  readonly port: number;
}

async function listen(server: Server, host: string): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  });
  server.listen(0, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

function join(one: Duplex, other: Duplex): void {
  one.on('error', () => other.destroy()).pipe(other);
  other.on('error', () => one.destroy()).pipe(one);
}

/** A TLS server in front of a service. */
export interface TlsFront extends Listening {
  /** How much of what clients sent has been decrypted, in bytes. */
  readonly bytesHeard: () => number;
}

/** Puts TLS before a server that answers in the clear at a port of this machine. */
export async function startTls(
  plainPort: number,
  options: TlsOptions,
  host = '127.0.0.1',
): Promise<TlsFront> {
  let heard = 0;
  const server = createTlsServer(options, socket => {
    socket.on('data', chunk => {
      heard += chunk.length;
    });
    join(socket, connect(plainPort, '127.0.0.1'));
  });
  server.on('tlsClientError', () => undefined);
  return Object.assign(await listen(server, host), { bytesHeard: () => heard });
}

export interface Proxy extends Listening {
  /** The requests in order, for example `CONNECT host:port` or `GET http://…`. */
  readonly asked: string[];
  /** How many clients that asked for a tunnel by TLS showed a certificate. */
  readonly certificates: () => number;
}

export interface ProxyOptions {
  /** `NAME:PASSWORD` that it wants. */
  readonly account?: string;
  /** The status with which it refuses every way. */
  readonly status?: number;
  /** With these it speaks TLS itself. */
  readonly tls?: TlsOptions;
}

/** A real proxy: tunnels by CONNECT, and forwards plain requests. */
export async function startProxy({ account, status, tls }: ProxyOptions = {}): Promise<Proxy> {
  const asked: string[] = [];
  let certificates = 0;
  const wanted = account && `Basic ${Buffer.from(account).toString('base64')}`;
  const refusal = ({ headers }: IncomingMessage) =>
    wanted !== undefined && headers['proxy-authorization'] !== wanted ? 407 : status;
  const forward = (incoming: IncomingMessage, response: ServerResponse) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    const refused = refusal(incoming);
    if (refused !== undefined) return void response.writeHead(refused).end();
    const onward = request(incoming.url ?? '', { headers: incoming.headers }, answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy()).end();
  };
  const server = tls === undefined ? createServer(forward) : createHttpsServer(tls, forward);
  server.on('connect', (incoming: IncomingMessage, socket: Duplex) => {
    asked.push(`CONNECT ${incoming.url}`);
    if (socket instanceof TLSSocket && socket.getPeerX509Certificate() !== undefined) certificates++;
    socket.on('error', () => undefined);
    const refused = refusal(incoming);
    if (refused !== undefined) return void socket.end(`HTTP/1.1 ${refused} Refused\r\n\r\n`);
    const { hostname, port } = new URL(`http://${incoming.url}`);
    const onward = connect(Number(port), hostname.replace(/^\[|\]$/g, ''), () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      join(socket, onward);
    });
    onward.on('error', () => socket.destroy());
  });
  return Object.assign(await listen(server, '127.0.0.1'), { asked, certificates: () => certificates });
}
