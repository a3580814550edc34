import { constants, platform, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { DocmirrorError } from '../errors.ts';
import { iterateMirror, readMirror } from '../store/read/sqlite.ts';
import type { Address, Site } from './address.ts';
import { apiAddresses, revisionNow } from './api.ts';
import { toHttpError } from './http.ts';
import { labelledFigures } from './metrics.ts';
import { csvOf, fileAddresses, pageAddresses } from './pages.ts';
import { freshnessNow } from './probes.ts';
import type { ReaderData, ReaderFailure, Said, Work } from './work.ts';

// A thread that reads the mirror for the server: one piece of work at a time, each over a connection of its own, which is opened for it.
// So the file of a mirror, or of a share, can be replaced between two answers.

const { isBehind, labels, trigger, ...site }: ReaderData = workerData;
// On Linux this is the priority of the thread alone: answers that take long leave the processor to probes and short ones.
if (isBehind && platform() === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const addresses = new Map(addressesOf(site).map(address => [address.path, address]));
let pieces: Iterator<string> | null = null;

parentPort?.on('message', (work: Work) => {
  try {
    say(answerTo(work));
  } catch (error) {
    pieces = null;
    say({ kind: 'failed', failure: failureOf(error) });
  }
});

/** All addresses whose answers are made here. */
function addressesOf(of: Site): readonly Address[] {
  return [...apiAddresses, ...pageAddresses(of)];
}

function answerTo(work: Work): Said {
  const { database } = site;
  switch (work.kind) {
    case 'freshness':
      return { kind: 'freshness', freshness: freshnessNow(database) };
    case 'figures':
      return { kind: 'figures', figures: { ...labelledFigures(database, labels, trigger), error: null } };
    case 'page':
      return readMirror(database, sqlite => {
        const address = addresses.get(work.path);
        if (address === undefined) throw new Error(`No answers are made for ${work.path}.`);
        address.check?.(sqlite, work.asked);
        const body = work.isHead ? null : address.make(sqlite, work.asked);
        return { kind: 'page', body, revision: revisionNow(sqlite) };
      });
    case 'file': {
      pieces = piecesOf(work);
      return { kind: 'begun', count: Number(pieces.next().value) };
    }
    case 'stop':
      pieces?.return?.();
      pieces = null;
      return { kind: 'done' };
    case 'more': {
      const next = pieces?.next();
      if (next?.done === false) return { kind: 'piece', bytes: new TextEncoder().encode(next.value) };
      pieces = null;
      return { kind: 'done' };
    }
  }
}

/** The number of a file's rows as the first piece, then the file, all from one state of the mirror. */
function piecesOf({ name, query }: Extract<Work, { kind: 'file' }>): Iterator<string> {
  return iterateMirror(site.database, function* (sqlite) {
    const address = fileAddresses.find(each => each.name === name);
    if (address === undefined) throw new Error(`There is no file ${name}.`);
    const { table, count } = address.read(sqlite, query);
    yield String(count);
    yield* csvOf(table);
  });
}

function failureOf(error: unknown): ReaderFailure {
  const { statusCode, message, headers } = toHttpError(error);
  const code = error instanceof DocmirrorError ? error.code : null;
  return {
    statusCode,
    message,
    headers,
    code,
    error: error instanceof Error ? error : new Error(String(error)),
  };
}

function say(said: Said): void {
  parentPort?.postMessage(said, said.kind === 'piece' ? [said.bytes.buffer] : []);
}
