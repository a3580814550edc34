import { fileURLToPath } from 'node:url';

// The tests run the program as it is packed: it starts in a third of the time that the sources take.

/** The folder of the package that the tests' program is built into. */
export const programFolder = '.program';

/** The program that tests start in processes of their own. */
export const programPath: string = fileURLToPath(new URL(`../../${programFolder}/cli.js`, import.meta.url));

/** The module of its function `main`. */
export const mainPath: string = new URL(`../../${programFolder}/main.js`, import.meta.url).href;
