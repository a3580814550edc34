import type { Labels } from '../config/parse.ts';
import { printableJson } from '../printable.ts';

/** The output of `--json`: JSON on one line. If labels are set, an object has them as `labels`. */
export function jsonOutput(json: string, labels: Labels): string {
  if (Object.keys(labels).length === 0 || !json.startsWith('{')) return printableJson(json);
  return printableJson(`{"labels":${JSON.stringify(labels)},${json.slice(1)}`);
}
