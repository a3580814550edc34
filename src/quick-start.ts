import { enableCompileCache, registerHooks } from 'node:module';
import { setFlagsFromString } from 'node:v8';

/**
 * Makes the program start fast and stay small; to be called before any other module is loaded.
 *
 * Drizzle's CommonJS build loads in a fifth of the time of its ECMAScript one (0.1 s instead of 0.6 s on the machine where it
 * was measured), and what was compiled once need not be compiled again. A sync makes much short-lived garbage; a young generation
 * that does not grow keeps it from being taken for long-lived: 245 MiB at the peak of a first sync instead of 350.
 */
export function quickStart(): void {
  enableCompileCache();
  setFlagsFromString('--semi-space-growth-factor=1');
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier.startsWith('drizzle-orm')
        ? next(specifier, { ...context, conditions: ['node', 'require'] })
        : next(specifier, context),
  });
}
