import { enableCompileCache, registerHooks } from 'node:module';

/**
 * Makes the program start fast; to be called before any other module is loaded.
 *
 * Drizzle's CommonJS build loads in a fifth of the time of its ECMAScript one (0.1 s instead of 0.6 s on the machine where it
 * was measured), and what was compiled once need not be compiled again.
 */
export function quickStart(): void {
  enableCompileCache();
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier.startsWith('drizzle-orm')
        ? next(specifier, { ...context, conditions: ['node', 'require'] })
        : next(specifier, context),
  });
}
