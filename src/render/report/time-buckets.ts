/** So many exports in one stretch of time. */
interface Bucket {
  /** How the stretch is called: `2026-11-20`, `2026-11` or `2026`. */
  readonly name: string;
  readonly count: number;
}

/** Exports over time, without gaps, the oldest first. */
export interface Timeline {
  readonly unit: 'day' | 'month' | 'year';
  readonly buckets: readonly Bucket[];
  /** Exports before the first bucket: so long ago that showing them would flatten everything else. */
  readonly before: number;
}

interface Day {
  readonly day: string;
  readonly count: number;
}

const dayMs = 86_400_000;
const daysMax = 184;
const monthsMax = 120;
const yearsMax = 60;

/** Puts days together so that they can be shown: by day up to half a year, by month up to ten years, by year beyond. */
export function timelineOf(days: readonly Day[]): Timeline {
  const [first, last] = [days[0]?.day, days.at(-1)?.day];
  if (first === undefined || last === undefined) return { unit: 'day', buckets: [], before: 0 };
  const span = (Date.parse(last) - Date.parse(first)) / dayMs + 1;
  if (span <= daysMax) {
    const nameOf = (at: number) => new Date(Date.parse(last) - at * dayMs).toISOString().slice(0, 10);
    return filled('day', days, backwards(span, nameOf));
  }
  const months = monthNumber(last) - monthNumber(first) + 1;
  if (months <= monthsMax) return filled('month', days, namesOfMonths(last, months));
  const years = Number(last.slice(0, 4)) - Number(first.slice(0, 4)) + 1;
  const nameOf = (at: number) => padded(Number(last.slice(0, 4)) - at, 4);
  return filled('year', days, backwards(Math.min(years, yearsMax), nameOf));
}

function filled(unit: Timeline['unit'], days: readonly Day[], names: readonly string[]): Timeline {
  const length = { day: 10, month: 7, year: 4 }[unit];
  const counts = new Map(names.map(name => [name, 0]));
  let before = 0;
  for (const { day, count } of days) {
    const name = day.slice(0, length);
    const sum = counts.get(name);
    if (sum === undefined) before += count;
    else counts.set(name, sum + count);
  }
  return { unit, buckets: [...counts].map(([name, count]) => ({ name, count })), before };
}

function namesOfMonths(last: string, count: number): string[] {
  return backwards(count, at => {
    const number = monthNumber(last) - at;
    return `${padded(Math.floor(number / 12), 4)}-${padded((number % 12) + 1, 2)}`;
  });
}

function backwards(count: number, name: (at: number) => string): string[] {
  return Array.from({ length: count }, (_, at) => name(count - 1 - at));
}

function monthNumber(day: string): number {
  return Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - 1;
}

function padded(value: number, length: number): string {
  return String(value).padStart(length, '0');
}
