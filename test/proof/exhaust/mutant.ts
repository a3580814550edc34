import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Mutant } from '../../support/mutant.ts';
import type * as Core from './core.ts';

const coreFile = join('test', 'proof', 'exhaust', 'core.ts');

/** The core without one guard. */
export class CoreMutant extends Mutant {
  /** @param instead the line that replaces the guard's; empty to take the guard away. */
  constructor(name: string, instead: string) {
    super(['src', coreFile], name, instead);
  }

  async load(): Promise<typeof Core> {
    return await import(pathToFileURL(join(this.folder, coreFile)).href);
  }
}
