import { keptResources } from '../../contract/lists.ts';
import { sumThrough } from '../receipts/kept-provenance.ts';
import { readSummedThrough } from '../receipts/pruned.ts';
import { ContentSum } from '../tables/content-sums.ts';
import type { Audit } from './verify-list.ts';

/** Checks which runs wrote what is kept of the time whose ended versions were deleted, or that had no receipts. */
export function verifyPruned({ sqlite, differences }: Audit): void {
  const through = readSummedThrough(sqlite);
  for (const resource of keptResources) {
    const found = sumThrough(sqlite, resource, through);
    if (found.equals(new ContentSum(sqlite, 'before_pruning', resource).stored())) continue;
    const words = `${resource}: which runs wrote the records up to run ${through} is not as docmirror kept it, or was altered before older versions were deleted`;
    differences.add('_content_sums', null, words);
  }
}
