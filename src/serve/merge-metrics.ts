/** Merges texts of Prometheus. Each metric is described once, before all its samples. Metrics keep the order of their first use. */
export function mergeMetrics(texts: readonly string[]): string {
  const families = new Map<string, { head: string[]; samples: string[] }>();
  for (const text of texts) {
    let current: { head: string[]; samples: string[] } | undefined;
    for (const line of text.split('\n')) {
      const [, kind, name] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (name !== undefined && kind !== undefined) {
        current = families.get(name) ?? { head: [], samples: [] };
        families.set(name, current);
        if (!current.head.some(known => known.startsWith(`# ${kind} `))) current.head.push(line);
      } else if (line.trim() !== '') {
        const [own = ''] = /^[\w:]+/.exec(line) ?? [];
        (families.get(own) ?? current)?.samples.push(line);
      }
    }
  }
  const written = [...families.values()].map(({ head, samples }) => [...head, ...samples].join('\n'));
  return written.map(text => `${text}\n`).join('\n');
}
