import { acceptancesIn } from '../../tables/accepted.ts';
import { readMirror } from '../sqlite.ts';

/** What people have accepted, the oldest first. Throws a MirrorFileError if there is no mirror, or it can't be read. */
export function readAccepted(path: string) {
  return readMirror(path, acceptancesIn);
}
