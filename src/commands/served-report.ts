import { isFresh } from '../freshness.ts';
import type { ServedReport } from '../serve/pages.ts';
import type { MirrorNumbers } from '../store/read/report-reader.ts';
import { makeReport } from './make-report.ts';

interface Sources {
  /** Changes whenever the mirror does. */
  revision(): string;
  figures(): MirrorNumbers;
  readonly maxAgeMs: number | null;
}

type Page = Awaited<ReturnType<ServedReport['page']>>;

/**
 * The report of a mirror as it is served: made when a client first asks for it after a run. It is kept until the next run, the next
 * day, or until a list becomes too old. It is made in slices, and the server answers other requests in between. Clients that ask for
 * the report during that time wait for the same one.
 */
export function servedReport(database: string, { revision, figures, maxAgeMs }: Sources): ServedReport {
  let kept: { readonly revision: string; readonly page: Promise<Page> } | undefined;
  const current = () =>
    `${revision()}${staleMark(figures(), maxAgeMs)}-${new Date().toISOString().slice(0, 10)}`;
  return {
    revision: current,
    page() {
      const wanted = current();
      if (kept?.revision !== wanted) {
        const page = makeReport(database, maxAgeMs, './');
        kept = { revision: wanted, page };
        page.catch(() => {
          if (kept?.page === page) kept = undefined;
        });
      }
      return kept.page;
    },
  };
}

/** One letter for each list: `s` if it is too old, `f` if not. */
function staleMark({ lists }: MirrorNumbers, maxAgeMs: number | null): string {
  if (maxAgeMs === null) return '';
  const nowMs = Date.now();
  return `-${lists.map(({ lastCompletedAt }) => (isFresh(lastCompletedAt, nowMs, maxAgeMs) ? 'f' : 's')).join('')}`;
}
