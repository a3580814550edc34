import { printable, printableLines } from '../printable.ts';

/** A logged line of JSON as a sentence for people: time, level, list, words, error and code, others in brackets, and a fault's stack. */
export function logLineForPeople(json: string): string {
  const entry = JSON.parse(json, (key, value: unknown) => {
    if (typeof value !== 'string') return value;
    return key === 'stack' ? printableLines(value) : printable(value);
  });
  const { time, level, msg, runId: _, resource, error, err, ...fields } = entry;
  const said = [resource, msg, error && `${error.message} [${error.code}]`].filter(Boolean).join(': ');
  const more = Object.entries(fields).map(([name, value]) => {
    return `${printable(name)} ${typeof value === 'string' ? value : JSON.stringify(value)}`;
  });
  const brackets = more.length === 0 ? '' : ` (${more.join(', ')})`;
  return `${time.slice(11, 19)} ${level.padEnd(5)} ${said}${brackets}\n${err?.stack ? `${err.stack}\n` : ''}`;
}
