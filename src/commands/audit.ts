import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { checkpointText } from '../audit/checkpoint.ts';
import { generateKey } from '../audit/keys.ts';
import { readReceipt } from '../audit/read-receipt.ts';
import { resolveConfig } from '../config/resolve.ts';
import { UsageError } from '../errors.ts';
import { receiptsText } from '../render/receipts.ts';
import { checkpointOf, receiptsOf } from '../store/read/checkpoint-of.ts';
import { signedCheckpointOf, writeCheckpoint } from './checkpoint-file.ts';
import type { CommandContext, CommandRegistration } from './context.ts';
import { addSettingFlags, mirrorFlags } from './flags.ts';
import { streamOut } from './stream-out.ts';

interface CheckpointFlags {
  readonly out?: string;
  readonly unsigned?: boolean;
}

const examples = `
Examples:
  $ docmirror audit keygen signing-key.pem > key.pub     once; give key.pub to the auditor
  $ docmirror audit checkpoint --out checkpoint          after a run; keep it where no one can change it
  $ docmirror audit receipts --json | jq .runId
  $ docmirror verify --checkpoint checkpoint --public-key key.pub`;

/** Registers `audit`: keys, checkpoints and the receipts. */
export const registerAudit: CommandRegistration = (program, context) => {
  const audit = program
    .command('audit')
    .description(
      "Receipts of all runs, and checkpoints that pin them: a mirror's history for those who trust no one.",
    )
    .addHelpText('after', examples);
  audit
    .command('keygen')
    .description(
      'Write a private key, for its owner alone, never over an existing file, and print the public one.',
    )
    .argument('<FILE>', 'where the private key goes')
    .action((path: string) => keygen(path, context));
  const checkpointCommand = audit
    .command('checkpoint')
    .description('Print a signed checkpoint of all receipts.')
    .option('--out <FILE>', 'write it into a file instead')
    .option('--unsigned', 'print it without a signature');
  addSettingFlags(checkpointCommand, ['signingKeyFile', ...mirrorFlags]).action(() =>
    checkpoint(checkpointCommand, context),
  );
  const receiptsCommand = audit
    .command('receipts')
    .description('List the receipts, the oldest first.')
    .option('--json', 'print them as they are stored, a line each');
  addSettingFlags(receiptsCommand, mirrorFlags).action(() => receipts(receiptsCommand, context));
};

function keygen(path: string, { stdout }: CommandContext): void {
  const { privatePem, publicPem } = generateKey();
  try {
    writeFileSync(path, privatePem, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (isThere) throw new UsageError(`${path} is there already. It was left as it is; name another file.`);
    throw new UsageError(`${path} can't be written: ${error instanceof Error ? error.message : error}`);
  }
  stdout.write(publicPem);
}

function checkpoint(command: Command, { environment, stdout }: CommandContext): void {
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
      : signedCheckpointOf(database, signingKeyFile);
  if (flags.out === undefined) stdout.write(text);
  else writeCheckpoint(flags.out, text);
}

async function receipts(command: Command, { environment, stdout, signal }: CommandContext): Promise<void> {
  const { database } = resolveConfig(command.opts(), environment);
  if (command.opts<{ json?: boolean }>().json) {
    await streamOut(
      stdout,
      receiptsOf(database).map(({ receipt }) => `${receipt}\n`),
      signal,
    );
    return;
  }
  const rows = receiptsOf(database).map(({ leafIndex, receipt }) => ({
    leafIndex,
    receipt: readReceipt(receipt),
  }));
  stdout.write(receiptsText([...rows]));
}
