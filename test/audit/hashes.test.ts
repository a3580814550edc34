import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { leafHash, MerkleTree } from '../../src/audit/hashes.ts';
import { rootOfFirst } from './log.ts';

/** The leaves that implementations of RFC 6962 are commonly tried with, and the root over the first n of them. */
const leaves = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
].map(hex => Buffer.from(hex, 'hex'));
const roots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

const anyLeaves = fc.array(fc.uint8Array({ maxLength: 8 }), { maxLength: 70 });

test.each(roots.map((root, size) => ({ size, root })))(
  'the root over the $size first leaves is the published one',
  ({ size, root }) => {
    expect(rootOfFirst(size, leaves.map(leafHash))?.toString('hex')).toBe(root);
  },
);

test('the root is what the definition of RFC 6962 says, at every size on the way', () => {
  fc.assert(
    fc.property(anyLeaves, bytes => {
      const hashes = bytes.map(leafHash);
      const tree = new MerkleTree();
      for (const [at, hash] of hashes.entries()) {
        tree.append(hash);
        expect(tree.root()).toEqual(byDefinition(bytes.slice(0, at + 1)));
        expect(rootOfFirst(at + 1, hashes)).toEqual(tree.root());
      }
      expect(tree.size).toBe(bytes.length);
    }),
    { numRuns: 30 },
  );
});

/** RFC 6962, section 2.1, word for word: the left side has the largest power of two that is smaller than the whole. */
function byDefinition(all: readonly Uint8Array[]): Buffer {
  if (all.length <= 1) return leafHash(all[0] as Uint8Array);
  let left = 1;
  while (left * 2 < all.length) left *= 2;
  const sides = [byDefinition(all.slice(0, left)), byDefinition(all.slice(left))];
  return createHash('sha256')
    .update(Buffer.from([1]))
    .update(Buffer.concat(sides))
    .digest();
}
