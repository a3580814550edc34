import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Debian's library that gives a process another clock; undefined if it is not installed. */
const library = ['x86_64', 'aarch64']
  .map(machine => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)
  .find(path => existsSync(path));

export const hasFakeClock = library !== undefined;

/** The clock of a process, which can be set while it runs. How long the process waits stays as it is. */
export class FakeClock {
  /** What the process gets. */
  readonly env: Readonly<Record<string, string>>;
  readonly #file: string;

  constructor(folder: string) {
    this.#file = join(folder, 'clock');
    this.env = {
      LD_PRELOAD: library ?? '',
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
    this.ahead(0);
  }

  /** Sets the clock to so many seconds more than that of the machine. */
  ahead(seconds: number): void {
    // The process reads the file each time that it asks for the time, so it must never be empty.
    writeFileSync(`${this.#file}-new`, `${seconds < 0 ? '' : '+'}${seconds}`);
    renameSync(`${this.#file}-new`, this.#file);
  }

  /** Sets the clock to a moment, in milliseconds since 1970; it is at most a second late. */
  set(ms: number): void {
    this.ahead(Math.ceil((ms - Date.now()) / 1_000));
  }
}
