import { isYetToMake, mirrorToWrite } from '../../store/file/mirror-path.ts';
import { openMirrorForReading } from '../../store/file/open.ts';
import { assertNobodyWrites, upgradesFrom } from '../../store/file/open-to-write.ts';
import { assertNothingIntrusive } from '../../store/file/own-objects.ts';
import { explaining } from '../../store/file/sqlite-errors.ts';
import { assertAsWritten } from '../../store/receipts/altered-lists.ts';
import { ReceiptLog } from '../../store/receipts/receipt-log.ts';
import { type Verification, verifyMirror } from '../../store/verify/verify.ts';
import { TimeSlice } from '../../time-slice.ts';

// All that `doctor` asks of the store. No function here makes a file or changes one.

/** Enough to tell damage among them. */
const differencesMax = 10;

/** The mirror at a path: one that the next run upgrades first, or one of the current shape and its audit. */
export type FoundMirror = { readonly upgradesFrom: string } | { readonly audit: Verification };

/**
 * Looks at the mirror: whether a run could open it and, as `verify` does, all its contents; null if there is none yet.
 *
 * @throws DocmirrorError as a run does that can't open it.
 */
export async function lookAtMirror(database: string, signal: AbortSignal): Promise<FoundMirror | null> {
  // A file that is not docmirror's is refused here, as every command does; an audit would call it damaged.
  mirrorToWrite(database);
  if (isYetToMake(database)) return null;
  const older = upgradesFrom(database);
  if (older === null) assertCanBegin(database);
  assertNobodyWrites(database);
  return older === null
    ? { audit: await verifyMirror(database, { limit: differencesMax, signal }) }
    : { upgradesFrom: older };
}

/**
 * Makes sure that a run would take the mirror's rows for what docmirror wrote.
 *
 * @throws MirrorAlteredError as a run does that refuses them.
 */
export async function assertNotAltered(database: string, signal: AbortSignal): Promise<void> {
  using file = openMirrorForReading(database);
  await assertAsWritten(file, new TimeSlice(signal));
}

/**
 * Makes sure that a run could begin on a mirror of the current shape.
 *
 * @throws DocmirrorError as the run does.
 */
function assertCanBegin(database: string): void {
  using file = openMirrorForReading(database);
  explaining(file.path, () => {
    assertNothingIntrusive(file);
    new ReceiptLog(file.sqlite).assertReady();
  });
}
