import { isYetToMake } from '../../store/file/file-kind.ts';
import { mirrorToWrite } from '../../store/file/mirror-path.ts';
import { openOfAnyShape } from '../../store/file/open.ts';
import { connectToRead, tryToWrite } from '../../store/file/read-connection.ts';
import { shapeOf, versionOf } from '../../store/file/shape.ts';
import { explaining } from '../../store/file/sqlite-errors.ts';
import { assertCanUpgrade } from '../../store/file/upgrade.ts';
import { assertComplete, assertWhole } from '../../store/file/whole.ts';
import { ReceiptLog } from '../../store/receipts/receipt-log.ts';
import { type Verification, verifyMirror } from '../../store/verify/verify.ts';

// All that `doctor` asks of the store. Neither makes a file or changes one.

/** How long another program may go on writing before doctor says so, in milliseconds; a run waits longer, and then fails. */
const writerMsMax = 2_000;

function assertNobodyWrites(path: string): void {
  const { sqlite, close } = connectToRead(path, true, writerMsMax);
  try {
    tryToWrite(sqlite);
  } finally {
    close();
  }
}

/** Enough to tell damage among them. */
const differencesMax = 10;

/** What lies where the mirror is to be: one that the next run upgrades first, or one of the shape of now and its audit. */
export type FoundMirror = { readonly upgradesFrom: string } | { readonly audit: Verification };

/**
 * Looks at the mirror: whether a run could open it and, as `verify` does, all that it holds; null where there is none yet.
 *
 * @throws DocmirrorError as a run does that can't open it.
 */
export async function lookAtMirror(database: string, signal: AbortSignal): Promise<FoundMirror | null> {
  // What is not ours is refused here, as every command does; an audit would call it damaged.
  mirrorToWrite(database);
  if (isYetToMake(database)) return null;
  const upgradesFrom = versionToUpgrade(database);
  explaining(database, () => assertNobodyWrites(database));
  return upgradesFrom === null
    ? { audit: await verifyMirror(database, { limit: differencesMax, signal }) }
    : { upgradesFrom };
}

/** The docmirror whose shape the mirror has, where a run would upgrade it. */
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
      assertComplete(file);
      new ReceiptLog(file.sqlite).assertReady();
    }
    return null;
  });
}
