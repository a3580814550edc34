import { type CountedNight, type Finding, rates } from './random-worlds.ts';

interface Row {
  nights: number;
  proven: number;
  requests: number;
  secondLook: number;
  pages: number;
}

/** Counts nights, and prints tables of how many were proven and what they cost. */
export class RandomTables {
  readonly #rows = new Map<string, Map<number, Row>>();
  readonly #findings = new Map<string, number>();
  readonly #first: Finding[] = [];
  #worlds = 0;
  #nights = 0;
  #late = 0;

  /** Findings that break a promise. */
  get wrongCount(): number {
    return [...this.#findings.values()].reduce((sum, number) => sum + number, 0);
  }

  add({ findings, nights }: { findings: readonly Finding[]; nights: readonly CountedNight[] }): void {
    this.#worlds++;
    for (const finding of findings) {
      if (finding.what === 'late') this.#late++;
      else {
        const name = `${finding.what}, by ${finding.rule}, ${finding.world.order}, ${finding.world.quirk}`;
        if (!this.#findings.has(name)) this.#first.push(finding);
        this.#findings.set(name, (this.#findings.get(name) ?? 0) + 1);
      }
    }
    for (const night of nights) {
      this.#nights++;
      const { order, kind, quirk, rate } = night.world;
      const what = quirk === 'none' ? kind : `(${quirk})`;
      for (const name of [
        `${night.extent} | ${order} | ${what}`,
        `${night.extent} | ${order} | all${quirk === 'none' ? '' : ' with faults'}`,
      ])
        this.#enter(name, rate, night);
    }
  }

  #enter(name: string, rate: number, night: CountedNight): void {
    const byRate = this.#rows.get(name) ?? new Map<number, Row>();
    this.#rows.set(name, byRate);
    const row = byRate.get(rate) ?? { nights: 0, proven: 0, requests: 0, secondLook: 0, pages: 0 };
    byRate.set(rate, row);
    row.nights++;
    row.proven += night.isProven ? 1 : 0;
    row.requests += night.requests;
    row.secondLook += night.secondLook;
    row.pages += night.pages;
  }

  lines(): string[] {
    const lines = [
      `| extent | order | changes | nights | proven at ${rates.join(' / ')} changes a reading | requests, and second looks, by pages of the list |`,
      '|---|---|---|---|---|---|',
    ];
    for (const [name, byRate] of [...this.#rows].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const rows = rates.map(rate => byRate.get(rate));
      const sum = (of: (row: Row) => number) => rows.reduce((total, row) => total + (row ? of(row) : 0), 0);
      const proven = rows.map(row => (row ? ((100 * row.proven) / row.nights).toFixed(1) : '–')).join(' / ');
      const pages = sum(({ pages }) => pages);
      const cost = `${(sum(row => row.requests) / pages).toFixed(2)} + ${(sum(row => row.secondLook) / pages).toFixed(2)}`;
      lines.push(`| ${name} | ${sum(({ nights }) => nights)} | ${proven} | ${cost} |`);
    }
    lines.push(
      '',
      `${this.#worlds} worlds, ${this.#nights} nights, ${this.wrongCount} wrong; ${this.#late} records were as old as a copy or a replica`,
    );
    for (const [name, count] of this.#findings) lines.push(`${count} × ${name}`);
    for (const finding of this.#first) lines.push(JSON.stringify(finding));
    return lines;
  }
}
