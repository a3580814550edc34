import { UsageError } from '../../errors.ts';
import { counted } from '../../render/numbers.ts';
import { exportTables } from '../../store/read/export-tables.ts';
import type { MirrorReader } from '../../store/read/mirror-reader.ts';
import type { EndedRuns, ListInRun } from '../../store/tables/ended-runs.ts';
import { runOf } from '../change-cursor.ts';
import { instantOf } from '../flags.ts';

interface AsOfFlags {
  readonly resource: readonly string[] | null;
  readonly asOfRun: string | null;
  readonly asOf: string | null;
}

/**
 * The run whose outcome is asked for, null for the current mirror; `say` is told what a reader should know of that run.
 *
 * @throws UsageError if the run does not exist, or the history does not go back to it.
 */
export function asOfRunId(
  flags: AsOfFlags,
  reader: MirrorReader,
  say: (line: string) => void,
): number | null {
  const { endedRuns } = reader;
  const runId = findRun(flags, endedRuns, say);
  if (runId === null) return null;
  const pruned = reader.pruned();
  if (runId < pruned.throughRunId) {
    throw new UsageError(
      `Run ${runId} is further back than the history goes: versions that ended before ${pruned.before} were deleted (DOCMIRROR_KEEP_HISTORY). The oldest run that can be asked for is ${pruned.throughRunId}.`,
    );
  }
  const rebuiltAfter = reader.lastRunBeforeRebuild();
  if (runId <= rebuiltAfter) {
    throw new UsageError(
      `Run ${runId} was before the mirror was rebuilt ("sync --rebuild" after run ${rebuiltAfter}), so docmirror can't say what the lists were then. The oldest run that can be asked for is ${rebuiltAfter + 1}.`,
    );
  }
  if (reader.lacksHistorySince(runId)) {
    throw new UsageError(
      `Run ${runId} can't be asked for: the file has no history of what later runs changed, because it is a share that was made with --without-history.`,
    );
  }
  const wanted = exportTables
    .map(({ resource }) => resource)
    .filter(resource => flags.resource?.includes(resource) ?? true);
  for (const resource of wanted) {
    if (resource === 'connections') continue;
    const note = noteOn(runId, endedRuns.list(runId, resource));
    if (note !== null) say(`${resource}: ${note}`);
  }
  const erased = wanted.reduce((sum, resource) => sum + reader.erasedSince(runId, resource), 0);
  if (erased > 0) say(noteOnErased(erased));
  return runId;
}

function noteOnErased(erased: number): string {
  const [verb, whose] = erased === 1 ? ['it was', 'its'] : ['they were', 'their'];
  return `Left out: ${counted(erased, 'record')} as ${verb} then, because ${whose} text was erased since.`;
}

function findRun(
  { asOfRun, asOf }: AsOfFlags,
  endedRuns: EndedRuns,
  say: (line: string) => void,
): number | null {
  if (asOfRun !== null) return runOf('--as-of-run', asOfRun, endedRuns);
  if (asOf === null) return null;
  const runId = endedRuns.newestBy(endOfSecond(asOf));
  if (runId === null)
    throw new UsageError(`--as-of: no run had ended by ${asOf}. "docmirror runs" lists them.`);
  say(`As of run ${runId}, which ended at ${endedRuns.endOf(runId)}.`);
  return runId;
}

const secondAlone = /:\d{2}:\d{2}(?:Z|[+-]\d{2}:\d{2})?$/i;

/** Times are shown to the second, so a second that is named means all of it. */
function endOfSecond(text: string): string {
  const instant = instantOf('--as-of', text);
  return secondAlone.test(text.trim()) ? instant.replace('.000Z', '.999Z') : instant;
}

function noteOn(runId: number, { status, writtenByRunId }: ListInRun): string | null {
  if (status === 'completed') return null;
  const given =
    writtenByRunId === null
      ? 'nothing was mirrored until then'
      : writtenByRunId === runId
        ? 'it is given as that run left it'
        : `it is given as run ${writtenByRunId} left it`;
  return status === null
    ? `run ${runId} did not work on it; ${given}.`
    : `run ${runId} did not complete it (${status}); ${given}.`;
}
