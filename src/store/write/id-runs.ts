const runBytes = 16;

/** Packs ids as runs of neighbours, first id and count each, in doubles: pages mostly hold rows that were inserted together. */
export function packIds(ids: readonly number[]): Buffer {
  const runs: number[] = [];
  for (const id of ids) {
    const last = runs.length - 2;
    const next = last < 0 ? Number.NaN : (runs[last] as number) + (runs[last + 1] as number);
    if (id === next) runs[last + 1] = (runs[last + 1] as number) + 1;
    else runs.push(id, 1);
  }
  return Buffer.from(Float64Array.from(runs).buffer);
}

/** The ids that were packed, in their order. */
export function* unpackIds(packed: Buffer): Generator<number> {
  for (let at = 0; at < packed.length; at += runBytes) {
    const first = packed.readDoubleLE(at);
    const count = packed.readDoubleLE(at + runBytes / 2);
    for (let offset = 0; offset < count; offset++) yield first + offset;
  }
}
