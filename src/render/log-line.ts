import { printable, printableLines } from '../printable.ts';

/** A logged line, which is JSON, for people: time, level, words, the other fields as JSON, and the stack of a fault below. */
export function logLineForPeople(json: string): string {
  const { time, level, msg, err, ...fields } = JSON.parse(json, (key, value: unknown) => {
    if (typeof value !== 'string') return value;
    return key === 'stack' ? printableLines(value) : printable(value);
  });
  const said = Object.entries(fields).map(([name, value]) => `${printable(name)}=${JSON.stringify(value)}`);
  const line = [String(time).slice(11, 19), String(level).toUpperCase().padEnd(5), msg, ...said].join(' ');
  return err?.stack === undefined ? `${line}\n` : `${line}\n${err.stack}\n`;
}
