import { lookup } from 'node:dns/promises';
import type { FastifyInstance } from 'fastify';
import { codeOf, DocmirrorError } from '../errors.ts';
import { type AppOptions, buildApp, buildMonitorApp, type MonitorOptions } from './app.ts';
import { defaultLimits } from './limits.ts';

/** The address at which a server listens. */
export interface Listening {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}

/** The content of a server and its address. */
export type ServerOptions = AppOptions & Listening;

/** A server that takes requests until it is closed. */
export interface RunningServer {
  /** The address of the server, without a slash at the end. */
  readonly url: string;
  /** Takes no more requests, waits a moment for those that are being answered, and ends. */
  close(): Promise<void>;
}

/**
 * Serves a source of records over HTTP until it is closed.
 *
 * @throws DocmirrorError if it can't listen at that address, for example because the port is in use.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  return listen(await buildApp(options), options);
}

/** Serves health checks and metrics, and no records, over HTTP until it is closed. It throws as `startServer` does. */
export async function startMonitorServer(options: MonitorOptions & Listening): Promise<RunningServer> {
  return listen(await buildMonitorApp(options), options);
}

async function listen(
  app: FastifyInstance,
  { host, port, limits }: Listening & MonitorOptions,
): Promise<RunningServer> {
  try {
    // Only one address is bound, even if the name has several, because the limits are for one listener.
    const { address } = await lookup(host);
    await app.listen({ host: address, port });
  } catch (error) {
    await app.close();
    throw explain(error, host, port);
  }
  const graceMs = limits?.closeGraceMs ?? defaultLimits.closeGraceMs;
  return { url: urlOf(app), close: () => close(app, graceMs) };
}

async function close(app: FastifyInstance, graceMs: number): Promise<void> {
  const cutOff = setTimeout(() => app.server.closeAllConnections(), graceMs);
  await app.close().finally(() => clearTimeout(cutOff));
}

function urlOf({ server }: FastifyInstance): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server listens on no port.');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses that port. Choose another one, or 0 for any that is free',
  EACCES: 'this user is not allowed to use that port',
  EADDRNOTAVAIL: 'this machine does not have that address',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host can not be looked up now',
};

function explain(error: unknown, host: string, port: number): unknown {
  const reason = reasons[codeOf(error) ?? ''];
  if (reason === undefined) return error;
  return new DocmirrorError('network', `Can't serve on ${host}, port ${port}: ${reason}.`, { cause: error });
}
