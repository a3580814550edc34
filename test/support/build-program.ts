import { bundle } from '../../build/bundle.ts';
import { programFolder } from './program.ts';

/** Builds the program that tests start, before the first of them. */
export default async function setup(): Promise<void> {
  await bundle(programFolder);
}
