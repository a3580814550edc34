import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import type { FilePlace } from '../file/file-identity.ts';
import { OtherWriters } from '../file/other-writers.ts';
import { type Groundwork, groundworkOf, type PlainGroundwork } from './groundwork.ts';

/** What the thread says: that it sees one state of the file from here on, and then what it found. */
export type ThreadMessage = 'begun' | PlainGroundwork;

/**
 * Lays the groundwork of an audit in a thread of its own, while this one reads the rows. Both look at one state of the file: where
 * something was written between the moments at which they began, or the file was replaced, what the thread found does not count.
 */
export class GroundworkThread {
  readonly #worker: Worker;
  /** Stays outside of all transactions, so it sees when somebody writes to the file. */
  readonly #watch: Database.Database;
  readonly #others: OtherWriters;
  readonly #place: FilePlace;
  readonly #found: Promise<Groundwork | null>;
  #isSameState = false;

  /**
   * To be called before this thread begins its own transaction.
   *
   * @param path a file that this process has open.
   * @param place where it lay before it was opened: a restore may put another one there.
   */
  constructor(path: string, place: FilePlace) {
    this.#place = place;
    this.#watch = new Database(path, { readonly: true, fileMustExist: true });
    this.#others = new OtherWriters(this.#watch);
    // The program runs as it is written, and bundled.
    const script = new URL(`./groundwork-worker${extname(import.meta.url)}`, import.meta.url);
    this.#worker = new Worker(script, { workerData: path });
    this.#found = this.#listen();
  }

  /** What the thread found; null where that does not count, or the thread failed: this one then has to find it out. */
  found(): Promise<Groundwork | null> {
    return this.#found;
  }

  /** Ends the thread, done or not. To be called before the file is closed. */
  async end(): Promise<void> {
    await this.#worker.terminate();
    this.#watch.close();
  }

  #listen(): Promise<Groundwork | null> {
    return new Promise(resolve => {
      this.#worker.on('message', (message: ThreadMessage) => {
        if (message !== 'begun') resolve(this.#isSameState ? groundworkOf(message) : null);
        else this.#isSameState = !this.#others.haveWritten() && this.#place.isKept;
      });
      // Whatever went wrong there goes wrong here too, and is explained.
      this.#worker.on('error', () => resolve(null));
      this.#worker.on('exit', () => resolve(null));
    });
  }
}
