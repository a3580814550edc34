import { constants } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Config } from '../../config/resolve.ts';
import { DocmirrorError, exitCodes } from '../../errors.ts';
import { readersOf } from '../../store/file/readers-of.ts';
import { assertShareFits } from '../share-after-run.ts';
import { denial } from './file-checks.ts';
import { failed, ok, skipped, type Verdict, warning } from './verdict.ts';

/** How the check is called. */
export const shareCheck = 'share';

/** Checks that a run could make the share: its folder can be written, what is there can be replaced, and its SQL can be read. */
export async function checkShare(config: Config): Promise<Verdict> {
  const { share } = config;
  if (share === null) return skipped(shareCheck, 'none is set (DOCMIRROR_SHARE)');
  try {
    await assertShareFits(config);
  } catch (error) {
    if (error instanceof DocmirrorError)
      return failed(shareCheck, error.message, null, error.exitCode, error.code);
    throw error;
  }
  const folder = dirname(resolve(share));
  const code = denial(folder, constants.W_OK | constants.X_OK);
  if (code === null) return checkReaders(share);
  const todo =
    'Let the user who runs docmirror write there, or name another place. The mirror is synced all the same.';
  return failed(shareCheck, `${folder} can't be written (${code})`, todo, exitCodes.partial);
}

/** The state of a share that is made for the first time. */
const newShareMode = 0o644;

/** A share is for others, so somebody else should be able to read it. */
function checkReaders(share: string): Verdict {
  const { readers, mode, closedFolder } = readersOf(share, newShareMode);
  if (readers !== 'its owner alone')
    return ok(shareCheck, `${share} can be made, and ${readers} can read it (${mode})`);
  const why = closedFolder === null ? `its mode is ${mode}` : `${closedFolder} keeps others out`;
  return warning(shareCheck, `no other user can read ${share}: ${why}`, 'Give its readers the right to it.');
}
