import type { CommandRegistration } from './context.ts';
import { registerRuns } from './runs.ts';
import { registerStatus } from './status.ts';
import { registerSync } from './sync.ts';

const registrations: readonly CommandRegistration[] = [registerSync, registerStatus, registerRuns];

/** Adds all commands to the program, in the order in which its help lists them. */
export const registerAll: CommandRegistration = (program, context) => {
  for (const register of registrations) register(program, context);
};
