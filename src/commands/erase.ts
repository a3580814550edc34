import type { Command } from 'commander';
import type { EraseReceipt } from '../audit/receipt.ts';
import { resolveConfig } from '../config/resolve.ts';
import { UsageError } from '../errors.ts';
import { printable } from '../printable.ts';
import { counted } from '../render/numbers.ts';
import { wrap } from '../render/wrap.ts';
import { type Erased, erase as eraseRecord } from '../store/write/erase.ts';
import type { CommandContext } from './context.ts';
import { jsonOutput } from './json-output.ts';
import { terminalWidth } from './terminal-width.ts';
import { whenFree } from './when-free.ts';

/** `docmirror erase`; its flags are in the table of commands. */
export async function erase(
  command: Command,
  { environment, stdout, signal }: CommandContext,
): Promise<void> {
  const [resource = '', id = ''] = command.args;
  const { database, actor, waitMs, labels } = resolveConfig(command.opts(), environment);
  if (!/^-?\d+$/.test(id) || !Number.isSafeInteger(Number(id)))
    throw new UsageError(`ID: expected a record's id, a whole number, got ${JSON.stringify(id)}`);
  const order = { resource: resource as EraseReceipt['resource'], recordId: Number(id), actor };
  const erased = await whenFree(waitMs, signal, () =>
    eraseRecord(database, { ...order, at: new Date().toISOString() }),
  );
  const { json } = command.opts<{ json?: boolean }>();
  const { recordId } = order;
  if (json) stdout.write(jsonOutput(`${JSON.stringify({ resource, recordId, ...erased })}\n`, labels));
  else stdout.write(wrapped(`${resource} ${recordId}`, erased, terminalWidth(stdout)));
}

function wrapped(
  name: string,
  { versions, rejectedRecords, isListed, receipt }: Erased,
  width: number,
): string {
  const what = [
    ...(versions > 0 ? [counted(versions, 'ended version')] : []),
    ...(rejectedRecords > 0 ? [counted(rejectedRecords, 'rejected record')] : []),
  ].join(' and ');
  const receiptCount = rejectedRecords + (versions > 0 ? 1 : 0);
  const lines = [
    receipt === null
      ? `${name} has no text of ended versions or rejected records any more.`
      : `Erased for good: the text of ${what} of ${name}.`,
    ...(isListed ? ['The service still lists the record, so its current version stays.'] : []),
    ...(receipt === null ? [] : [receiptsText(receipt.leafIndex, receiptCount)]),
    'Copies of the text can also be in backups, in exports, in ClickHouse, in files of Litestream, and in the share until it is made again with "docmirror share FILE". Names of connections can also be in ended versions of other records.',
  ];
  return lines
    .flatMap(line => wrap(printable(line), width))
    .map(line => `${line}\n`)
    .join('');
}

function receiptsText(newest: number, count: number): string {
  return count === 1 ? `Receipt ${newest} says so.` : `Receipts ${newest - count + 1} to ${newest} say so.`;
}
