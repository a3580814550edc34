import { answerCommands } from './answers.ts';
import { auditCommands } from './audits.ts';
import { copyCommands } from './copies.ts';
import type { CommandEntry } from './entry.ts';
import { runCommands } from './runs.ts';
import { startCommands } from './start.ts';

/** One sentence that says what docmirror is. */
export const purpose = 'Keeps a complete, provable copy of a Document Export Service in one SQLite file.';

const all = [...runCommands, ...answerCommands, ...copyCommands, ...auditCommands, ...startCommands] as const;

/** The words that a user types for a command. A command in a group has both words. */
export type CommandName = (typeof all)[number]['name'];

/** A command of the table, under one of its names. */
export type NamedCommand = CommandEntry & { readonly name: CommandName };

/**
 * All commands, in the order of the help. This is only data, so it costs nothing to load. The code of a command is loaded when
 * it runs.
 */
export const commandTable: readonly NamedCommand[] = all;

/** The purpose of each group of commands, by the name of the group. */
export const groups: Readonly<Record<string, string>> = {
  publish: 'Bring the mirror and its change feed into a database that all tenants share.',
  audit:
    "Receipts of all runs, and checkpoints that pin them: a mirror's history for those who trust no one.",
};
