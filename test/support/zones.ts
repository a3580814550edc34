import fc from 'fast-check';

/** A way of writing an instant. */
export interface Zone {
  readonly minutes: number;
  readonly separator: string;
  readonly fraction: string;
  readonly end: 'colon' | 'plain' | 'Z';
}

/** Every way of writing an instant that docmirror reads, in milliseconds. */
export const anyZone: fc.Arbitrary<Zone> = fc.record({
  minutes: fc.integer({ min: -14 * 60, max: 14 * 60 }),
  separator: fc.constantFrom('T', 't', ' '),
  fraction: fc.constantFrom('', '000', '000000'),
  end: fc.constantFrom('colon', 'plain', 'Z'),
});

/** An instant in milliseconds since 1970 as a text. */
export function writtenIn({ minutes, separator, fraction, end }: Zone, ms: number): string {
  const offset = end === 'Z' ? 0 : minutes;
  const [date = '', time = ''] = new Date(ms + offset * 60_000).toISOString().slice(0, -1).split('T');
  const isWhole = ms % 1000 === 0 && fraction === '';
  const text = `${date}${separator}${isWhole ? time.slice(0, 8) : time + fraction}`;
  if (end === 'Z') return `${text}${separator === 't' ? 'z' : 'Z'}`;
  const two = (n: number) => String(Math.floor(n)).padStart(2, '0');
  const size = Math.abs(offset);
  return `${text}${offset < 0 ? '-' : '+'}${two(size / 60)}${end === 'colon' ? ':' : ''}${two(size % 60)}`;
}
