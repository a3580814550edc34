import type Database from 'better-sqlite3';

/**
 * Finds out whether another program has written to a database since the last question. Writes of this connection do not count.
 */
export class OtherWriters {
  readonly #sqlite: Database.Database;
  #version: unknown;

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
    this.#version = this.#read();
  }

  /**
   * True if others have committed since the last call, or since this object was made; the next call answers for later commits only.
   */
  haveWritten(): boolean {
    const before = this.#version;
    this.#version = this.#read();
    return this.#version !== before;
  }

  #read(): unknown {
    return this.#sqlite.pragma('data_version', { simple: true });
  }
}
