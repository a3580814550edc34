import { type Checkpoint, originOf } from '../../audit/checkpoint.ts';
import { MerkleTree } from '../../audit/hashes.ts';
import { type ListSum, type RunReceipt, receiptOrNull } from '../../audit/receipt.ts';
import { tableOf } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { attempt } from '../../errors.ts';
import { rejectedLeft, withLeft } from '../receipts/deleted-rejected.ts';
import { lossesOfKept, nameOf } from '../receipts/kept.ts';
import { isTrueOf, logsLeftBehind, type Restore } from '../receipts/left-behind.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { factsHash, lastState, type RunChanges, RunComposer, sumOf, workOf } from '../receipts/statements.ts';
import { allRows, allValues } from '../tables/ask.ts';
import type { Audit, Difference } from './verify-tables.ts';

type Resource = ListSum['resource'];
type Context = Pick<Audit, 'sqlite' | 'slice'>;
type Ahead = ReadonlyMap<number, RunChanges>;

/** A checkpoint that the receipts must agree with, and its file. */
export interface PinnedCheckpoint extends Checkpoint {
  readonly file: string;
}

/**
 * Checks the receipts by themselves: their places, form, mirror and hashes, and the roots of checkpoints. Returns how many there are, and the
 * checkpoints of states that a restore left behind.
 */
export function verifyLog(audit: Audit, checkpoints: readonly PinnedCheckpoint[]) {
  const { sqlite, report, mirrorIds } = audit;
  if (mirrorIds.length !== 1) report('_mirror', null, `${mirrorIds.length} ids, but a mirror has one`);
  const leaves: string[] = [];
  const seen = new Set<string>();
  const restores: Restore[] = [];
  let lastRunId = 0;
  for (const { leafIndex, runId, receipt: text, hash, leafHash } of new ReceiptLog(sqlite).receipts()) {
    const add = (what: string) => report('sync_receipts', leafIndex, what);
    if (leafIndex !== leaves.length)
      add(`the receipt before it is missing: ${leaves.length} was expected here`);
    if (hash.toString('hex') !== leafHash) add('the receipt and its hash disagree');
    if (seen.has(leafHash)) add('an earlier receipt is the same');
    seen.add(leafHash);
    leaves.push(hash.toString('hex'));
    const receipt = receiptOrNull(text);
    if (receipt === null) {
      add('it is no receipt in canonical JSON with the fields of its kind');
      continue;
    }
    // If the mirror has lost its id, that was already reported.
    if (mirrorIds.length > 0 && receipt.mirrorId !== mirrorIds[0])
      add(`it is of mirror ${receipt.mirrorId}, and this one is ${mirrorIds[0]}`);
    const said = receipt.kind === 'run' ? receipt.runId : null;
    if (said !== runId) add(`run_id is ${runId}, but the receipt says ${said}`);
    if (said !== null && said <= lastRunId) add(`it comes after that of run ${lastRunId}`);
    lastRunId = said ?? lastRunId;
    if (receipt.kind !== 'restore') continue;
    restores.push(receipt);
    if (!isTrueOf(leaves, receipt)) add('it says that receipts were left behind that are still here');
  }
  const past = logsLeftBehind(leaves, restores);
  const restored = checkpoints.flatMap(({ file, origin, size, root }) => {
    const here = originOf(mirrorIds[0] ?? 'lost');
    const fits = (log: readonly string[]) => log.length >= size && rootOf(log.slice(0, size)).equals(root);
    if (origin === here && fits(leaves)) return [];
    const found = origin === here ? past.find(log => fits(log.leaves))?.restore : undefined;
    if (found !== undefined) return { file, at: found.at, actor: found.actor, fromRunId: found.fromRunId };
    let fault = `one of the first ${size} receipts is not what the checkpoint pins`;
    if (size > leaves.length)
      fault = `the checkpoint counts ${size} receipts, and there are ${leaves.length}`;
    if (origin !== here) fault = `the checkpoint is of ${origin}, and this is ${here}`;
    const lost = restores.find(({ leftBehind }) => leftBehind === null);
    if (lost !== undefined) fault += `. The restore of ${lost.at} could not read the mirror that it replaced`;
    report('sync_receipts', null, `${file}: ${fault}`);
    return [];
  });
  return { receiptCount: leaves.length, restored };
}

function rootOf(leaves: readonly string[]): Buffer {
  const tree = new MerkleTree();
  for (const leaf of leaves) tree.append(Buffer.from(leaf, 'hex'));
  return tree.root();
}

/** The changes of the first runs, for `verifyRuns`, while this is useful. What can't be read throws there, in its turn. */
export async function changesAhead({ sqlite, slice }: Context, isUseful: () => boolean) {
  const first = 'SELECT run_id FROM sync_receipts WHERE run_id IS NOT NULL ORDER BY run_id LIMIT 1000';
  const [ids, composer] = attempt(() => [allValues<number>(sqlite, first), new RunComposer(sqlite)]) ?? [];
  const ahead = new Map<number, RunChanges>();
  for (const runId of ids ?? []) {
    if (!isUseful()) break;
    await slice.next();
    attempt(() => composer && ahead.set(runId, composer.changes(runId)));
  }
  return ahead;
}

/**
 * Composes the receipt of every run again from the tables, the newest first. It begins with the sums of the `present` rows, takes away what
 * each run added and puts back what it ended, and so has each list as every run left it.
 */
export async function verifyRuns(audit: Audit, present: ReadonlyMap<Resource, Sum>, ahead: Ahead) {
  const { sqlite, report, slice, mirrorIds, knownAfter } = audit;
  const composer = new RunComposer(sqlite);
  const states = new Map(present);
  const stateOf = (resource: Resource) => states.get(resource) as Sum;
  const undo = (changes: RunChanges) => {
    for (const [resource, { began, gone }] of changes)
      states.set(resource, stateOf(resource).minus(began).plus(gone));
  };

  const underWay =
    'SELECT id FROM sync_runs WHERE id NOT IN (SELECT run_id FROM sync_receipts WHERE run_id IS NOT NULL)';
  for (const runId of allValues<number>(sqlite, underWay)) undo(composer.changes(runId));
  // The history is compared with the newest receipts, so that one fault is reported only once.
  for (const [resource, found] of states) {
    const said = lastState(sqlite, resource);
    if (found.equals(said)) continue;
    const words = `${found.count} rows with the checksum ${found}, but the newest receipt says ${said.count} and ${said}`;
    report(tableOf(resource), null, words);
    states.set(resource, said);
  }

  const receipts = sqlite.prepare<[], { leafIndex: number; runId: number | null; text: string }>(
    'SELECT leaf_index AS leafIndex, run_id AS runId, receipt AS text FROM sync_receipts ORDER BY leaf_index DESC',
  );
  const left = rejectedLeft(sqlite);
  /** The hashes `ended` that erasures changed, by the list and the run. */
  const erased = new Map<string, string | null>();
  /** The newest receipt states the facts as they are. */
  let factsNow: string | null = factsHash(sqlite);
  const factsAfter = (stated: string | null | undefined) => {
    if (stated === undefined) return null;
    const expected = factsNow ?? stated;
    factsNow = null;
    return expected;
  };
  // False for what is further back than rows and history go.
  let isKnown = true;
  for (const { leafIndex, runId, text } of receipts.iterate()) {
    const add = (what: string, severity: Difference['severity'] = 'content') =>
      report('sync_receipts', leafIndex, what, severity);
    /** @param who the name of the receipt that says this, for messages. */
    const checkStates = (who: string, said: readonly ListSum[]) => {
      for (const each of said) {
        const { resource, recordCount, checksum } = each;
        const state = stateOf(resource);
        const stated = sumOf(each);
        if (state.equals(stated)) continue;
        add(
          `${resource}: the receipt of ${who} says ${recordCount} records and ${checksum}, but by rows and history there were ${state.count} and ${state}`,
        );
        states.set(resource, stated);
      }
    };
    if (runId !== null && runId <= knownAfter) isKnown = false;
    // A receipt that can't be read, or is of another kind, was already reported.
    const receipt = receiptOrNull(text);
    const changes = isKnown && runId !== null ? (ahead.get(runId) ?? composer.changes(runId)) : null;
    if (receipt?.kind === 'run' && runId !== null) {
      const lists = receipt.lists.map(list => {
        return { ...list, ended: erased.get(`${list.resource} ${runId}`) ?? list.ended };
      });
      const work =
        changes === null
          ? new Map(lists.map(list => [list.resource, list]))
          : workOf(changes, stateOf('connections'));
      const expected = composer.compose(runId, mirrorIds[0] ?? '', work, factsAfter(receipt.facts));
      for (const { what, isOfContent } of expected === null
        ? []
        : differencesBetween({ ...withLeft(receipt, left.get(runId)), lists }, expected))
        add(`run ${runId}: ${what}`, isOfContent ? 'content' : 'record of runs');
      if (changes !== null) checkStates(`run ${runId}`, receipt.lists);
    } else if (receipt?.kind === 'erase') {
      const facts = factsAfter(receipt.facts);
      if (facts !== null && facts !== receipt.facts)
        add(`facts is "${receipt.facts}" in the receipt, but "${facts}" by the tables`, 'record of runs');
      for (const { runId: endedBy, ended } of receipt.ended) {
        const key = `${receipt.resource} ${endedBy}`;
        erased.set(key, erased.get(key) ?? ended);
      }
    } else if (receipt?.kind === 'upgrade' || receipt?.kind === 'rebuild') {
      // The hashes of the runs before it do not have to agree any more.
      if (isKnown) checkStates(`the ${receipt.kind}`, receipt.lists);
    }
    if (changes !== null) undo(changes);
    // An upgrade just before it had rows that the rebuild dropped.
    if (receipt?.kind === 'rebuild') isKnown = false;
    if (slice.isOver) await slice.next();
  }
  if (factsNow !== null && allRows(sqlite, 'SELECT 1 FROM service_facts').length > 0)
    report('service_facts', null, 'no receipt says that docmirror wrote these rows');
  for (const { leafIndex, resource, kind, throughRunId } of await lossesOfKept(sqlite, slice))
    report(
      'sync_receipts',
      leafIndex,
      `${resource}: which runs wrote the records up to run ${throughRunId} is not what the receipt of the ${nameOf(kind)} says`,
      'content',
    );
  // There was nothing before the first run.
  const fault = 'rows and history have more or less than the runs wrote';
  for (const [resource, state] of isKnown ? states : [])
    if (!state.equals(new Sum())) report(tableOf(resource), null, fault);
}

/** The members of a list's receipt that say what its rows and history are. */
const ofContent: ReadonlySet<string> = new Set(['changes', 'ended', 'checksum', 'recordCount']);

/** The members in which a stored receipt differs from the recomputed one, with both values. */
function differencesBetween(stored: RunReceipt, expected: RunReceipt) {
  const membersOf = ({ lists, ...run }: RunReceipt) => {
    const parts = [
      { of: '', members: run },
      ...lists.map(list => ({ of: `${list.resource}: `, members: list })),
    ];
    return parts.flatMap(({ of, members }) =>
      Object.entries(members).map(([name, value]) => {
        return {
          name: of + name,
          text: JSON.stringify(value),
          isOfContent: of !== '' && ofContent.has(name),
        };
      }),
    );
  };
  const found = Map.groupBy(membersOf(expected), ({ name }) => name);
  const said = Map.groupBy(membersOf(stored), ({ name }) => name);
  return [...new Map([...said, ...found])].flatMap(([name, [one]]) => {
    const [inReceipt, byTables] = [said, found].map(members => members.get(name)?.[0]?.text ?? 'nothing');
    const what = `${name} is ${inReceipt} in the receipt, but ${byTables} by the tables`;
    return inReceipt === byTables ? [] : [{ what, isOfContent: one?.isOfContent === true }];
  });
}
