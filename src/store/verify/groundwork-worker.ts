import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { cacheKib } from '../file/open.ts';
import { beginReading, layPlainGroundwork } from './groundwork.ts';
import type { ThreadMessage } from './groundwork-thread.ts';

// The thread that `GroundworkThread` begins. It opens the file by SQLite alone: what else opened and closed it would take the
// locks away that the process holds on it.
const sqlite = new Database(workerData, { readonly: true, fileMustExist: true });
sqlite.pragma(`cache_size = -${cacheKib}`);
try {
  beginReading(sqlite);
  say('begun');
  say(layPlainGroundwork(sqlite));
} finally {
  sqlite.close();
}

function say(message: ThreadMessage): void {
  parentPort?.postMessage(message);
}
