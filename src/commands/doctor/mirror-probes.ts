import { assertWhole } from '../../store/file/integrity-check.ts';
import { isYetToMake, mirrorToWrite } from '../../store/file/mirror-path.ts';
import { openMirrorForReading, openOfAnyShape } from '../../store/file/open.ts';
import { assertNobodyWrites } from '../../store/file/open-to-write.ts';
import { assertNothingIntrusive } from '../../store/file/own-objects.ts';
import { shapeOf, versionOf } from '../../store/file/shape.ts';
import { explaining } from '../../store/file/sqlite-errors.ts';
import { assertCanUpgrade } from '../../store/file/upgrade.ts';
import { assertAsWritten } from '../../store/receipts/altered-lists.ts';
import { ReceiptLog } from '../../store/receipts/receipt-log.ts';
import { type Verification, verifyMirror } from '../../store/verify/verify.ts';
import { TimeSlice } from '../../time-slice.ts';

// All that `doctor` asks of the store. No function here makes a file or changes one.

/** Enough to tell damage among them. */
const differencesMax = 10;

/** What is at the mirror's path: one that the next run upgrades first, or one of the current shape and its audit. */
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
  const upgradesFrom = versionToUpgrade(database);
  assertNobodyWrites(database);
  return upgradesFrom === null
    ? { audit: await verifyMirror(database, { limit: differencesMax, signal }) }
    : { upgradesFrom };
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

/** The docmirror whose shape the mirror has, if a run would upgrade it. */
function versionToUpgrade(database: string): string | null {
  using file = openOfAnyShape(database, () => undefined);
  return explaining(file.path, () => {
    const shape = shapeOf(file.sqlite);
    if (shape === 'older') {
      assertWhole(file);
      assertCanUpgrade(file.sqlite, file.path);
      return versionOf(file.sqlite);
    }
    if (shape === 'current') {
      assertNothingIntrusive(file);
      new ReceiptLog(file.sqlite).assertReady();
    }
    return null;
  });
}
