import { existsSync, rmSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { checkpointText } from '../audit/checkpoint.ts';
import { generateKey } from '../audit/keys.ts';
import { receiptOrNull } from '../audit/receipt.ts';
import { rejectUnknownVariables, resolveConfig } from '../config/resolve.ts';
import { codeOf, MirrorFileError, UsageError } from '../errors.ts';
import { receiptsText } from '../render/receipts.ts';
import { FileWriteError } from '../store/file/atomic-file.ts';
import { checkpointOf, receiptsOf } from '../store/read/checkpoint-of.ts';
import { signedCheckpointOf, writeCheckpoint } from './checkpoint-file.ts';
import type { CommandContext } from './context.ts';
import { assertNamed, unwritable } from './named-file.ts';
import { streamOut } from './stream-out.ts';
import { terminalWidth } from './terminal-width.ts';

interface CheckpointFlags {
  readonly out?: string;
  readonly unsigned?: boolean;
}

/** `docmirror audit keygen`; its flags are in the table of commands. */
export function keygen(command: Command, { environment, stdout }: CommandContext): void {
  const [path = ''] = command.args;
  rejectUnknownVariables(environment);
  assertNamed('FILE', path);
  const { privatePem, publicPem } = generateKey();
  try {
    writeFileSync(path, privatePem, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (codeOf(error) === 'EEXIST')
      throw new UsageError(`${path} is there already. It was left as it is; name another file.`);
    // Half a key is none.
    if (existsSync(path)) rmSync(path);
    throw unwritable('FILE', path, new FileWriteError(path, error));
  }
  stdout.write(publicPem);
}

/** `docmirror audit checkpoint`; its flags are in the table of commands. */
export async function checkpoint(command: Command, { environment, stdout }: CommandContext): Promise<void> {
  const flags = command.opts<CheckpointFlags>();
  const { database, signingKeyFile } = resolveConfig(command.opts(), environment);
  if (signingKeyFile === null && !flags.unsigned) {
    throw new UsageError(
      'DOCMIRROR_SIGNING_KEY_FILE is not set. Make a key with "docmirror audit keygen FILE" and set it, or pass --unsigned.',
    );
  }
  const text =
    flags.unsigned || signingKeyFile === null
      ? checkpointText(checkpointOf(database))
      : await signedCheckpointOf(database, signingKeyFile);
  if (flags.out === undefined) stdout.write(text);
  else writeCheckpoint('--out', flags.out, text);
}

/** `docmirror audit receipts`; its flags are in the table of commands. */
export async function receipts(
  command: Command,
  { environment, stdout, signal }: CommandContext,
): Promise<void> {
  const { database } = resolveConfig(command.opts(), environment);
  if (command.opts<{ json?: boolean }>().json) {
    const texts = receiptsOf(database).map(({ receipt }) => `${receipt}\n`);
    await streamOut(stdout, texts, signal);
    return;
  }
  const rows = [...receiptsOf(database)].map(({ leafIndex, receipt: text }) => {
    const receipt = receiptOrNull(text);
    if (receipt !== null) return { leafIndex, receipt };
    throw new MirrorFileError(
      `Receipt ${leafIndex} in ${database} is not as docmirror writes one. "docmirror verify" shows what was changed; --json prints the texts as they are.`,
    );
  });
  stdout.write(receiptsText(rows, terminalWidth(stdout)));
}
