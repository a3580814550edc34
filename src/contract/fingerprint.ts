import { hash } from 'node:crypto';

/** Bytes of a key or fingerprint. */
export const hashBytes = 16;

const lanes = hashBytes / 4;

/** The first 16 bytes of a text's or a buffer's SHA-256. */
export function hash16(data: string | Buffer): Buffer {
  return hash('sha256', data, 'buffer').subarray(0, hashBytes);
}

/** Writes the first 16 bytes of a text's SHA-256 to a place in a buffer: half the time of `hash16`, for it makes no buffer. */
export function writeHash16(text: string, target: Buffer, offset: number): void {
  target.write(hash('sha256', text, 'binary'), offset, hashBytes, 'latin1');
}

/**
 * A sum of fingerprints: the same for the same multiset of records in any order. Four 32-bit lanes, each added modulo 2^32,
 * so that records can be taken out again and sums of parts can be joined.
 */
export class FingerprintSum {
  readonly #lanes = new Uint32Array(lanes);

  static from(bytes: Uint8Array): FingerprintSum {
    const sum = new FingerprintSum();
    sum.add(bytes);
    return sum;
  }

  add(fingerprint: Uint8Array): void {
    for (let lane = 0; lane < lanes; lane++) {
      this.#lanes[lane] = (this.#lanes[lane] as number) + readLane(fingerprint, lane);
    }
  }

  subtract(fingerprint: Uint8Array): void {
    for (let lane = 0; lane < lanes; lane++) {
      this.#lanes[lane] = (this.#lanes[lane] as number) - readLane(fingerprint, lane);
    }
  }

  /** 16 bytes, little-endian lane by lane: what is stored, and what `from` takes. */
  toBytes(): Buffer {
    const bytes = Buffer.alloc(hashBytes);
    for (let lane = 0; lane < lanes; lane++) bytes.writeUInt32LE(this.#lanes[lane] as number, lane * 4);
    return bytes;
  }

  /** 32 hexadecimal digits. */
  toString(): string {
    return this.toBytes().toString('hex');
  }
}

function readLane(bytes: Uint8Array, lane: number): number {
  const at = lane * 4;
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  );
}
