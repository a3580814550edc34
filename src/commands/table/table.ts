import { answerCommands } from './answers.ts';
import { auditCommands } from './audits.ts';
import { copyCommands } from './copies.ts';
import type { CommandEntry } from './entry.ts';
import { runCommands } from './runs.ts';
import { startCommands } from './start.ts';

/** What docmirror is, in a sentence. */
export const purpose = 'Keeps a complete, provable copy of a Document Export Service in one SQLite file.';

const all = [...runCommands, ...answerCommands, ...copyCommands, ...auditCommands, ...startCommands] as const;

/** What is typed for a command; of one in a group both words. */
export type CommandName = (typeof all)[number]['name'];

/** A command of the table, under one of its names. */
export type NamedCommand = CommandEntry & { readonly name: CommandName };

/**
 * All commands, in the order in which the help lists them. This is data alone, which costs nothing to load: what a command does
 * is loaded when it is run.
 */
export const commandTable: readonly NamedCommand[] = all;

/** What the commands that only hold others are for, by their names. */
export const groups: Readonly<Record<string, string>> = {
  publish: 'Bring the mirror and its change feed into a database that all tenants share.',
  audit:
    "Receipts of all runs, and checkpoints that pin them: a mirror's history for those who trust no one.",
};
