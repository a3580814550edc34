/** A rule by which a backup stays. */
export type KeepRule = 'newest' | 'daily' | 'weekly' | 'monthly';

/** How many backups of a mirror each rule keeps; a rule that is left out or null keeps none. */
export type Retention = Readonly<Partial<Record<KeepRule, number | null>>>;

const dayMs = 24 * 3_600_000;

/** What has one backup at most by a rule: a day, a week from Monday on, a month, all in UTC; each backup by `newest`. */
const periodOf: Readonly<Record<KeepRule, (atMs: number, place: number) => string>> = {
  newest: (_, place) => String(place),
  daily: atMs => new Date(atMs).toISOString().slice(0, 10),
  // 1 January 1970 was a Thursday.
  weekly: atMs => String(Math.floor((atMs / dayMs + 3) / 7)),
  monthly: atMs => new Date(atMs).toISOString().slice(0, 7),
};

/** The rules that keep each of these backups, given by their times, the newest first: of each period its newest one, for so many periods. */
export function rulesThatKeep(timesMs: readonly number[], retention: Retention): KeepRule[][] {
  const rules = Object.keys(periodOf) as KeepRule[];
  const periods = new Map(rules.map(rule => [rule, new Set<string>()]));
  return timesMs.map((atMs, place) =>
    rules.filter(rule => {
      const seen = periods.get(rule);
      const period = periodOf[rule](atMs, place);
      if (seen === undefined || seen.has(period) || seen.size >= (retention[rule] ?? 0)) return false;
      seen.add(period);
      return true;
    }),
  );
}
