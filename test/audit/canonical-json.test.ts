import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';

/** RFC 8785, appendix B: the bits of a double, and how it is written. */
const numbers: readonly (readonly [bits: string, text: string])[] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
];

const doubleOf = (bits: string) => Buffer.from(bits, 'hex').readDoubleBE();

test.each(numbers)('the number of bits %s is written as RFC 8785 writes it: %s', (bits, text) => {
  expect(canonicalize(doubleOf(bits))).toBe(text);
});

test.each(['7fffffffffffffff', '7ff0000000000000'])('bits %s are no number of JSON', bits => {
  expect(() => canonicalize(doubleOf(bits))).toThrow();
});

test('literals, numbers and strings are written as in section 3.2.2 of RFC 8785', () => {
  const input = String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`;
  const expected = String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`;
  expect(canonicalize(JSON.parse(input))).toBe(expected);
});

test('names are sorted by their UTF-16 code units, as in section 3.2.3 of RFC 8785', () => {
  const input = String.raw`{
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One",
    "\ud83d\ude00": "Emoji: Grinning Face",
    "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis"
  }`;
  const names = [...(canonicalize(JSON.parse(input)) ?? '').matchAll(/:"([^"]+)"/g)].map(([, name]) => name);
  expect(names).toEqual([
    'Carriage Return',
    'One',
    'Control',
    'Latin Small Letter O With Diaeresis',
    'Euro Sign',
    'Emoji: Grinning Face',
    'Hebrew Letter Dalet With Dagesh',
  ]);
});

test('half a surrogate pair is refused, in values and in names', () => {
  expect(() => canonicalize({ a: '\ud800' })).toThrow();
  expect(() => canonicalize({ '\udead': 1 })).toThrow();
});

test('any JSON keeps its meaning, and its canonical text stays as it is', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), value => {
      const text = canonicalize(value) ?? '';
      const read: unknown = JSON.parse(text);
      expect(canonicalize(read)).toBe(text);
      expect(read).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
