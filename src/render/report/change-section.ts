import type { Change } from '../../store/read/change.ts';
import type { ReportData } from '../../store/read/report-data.ts';
import { differencesOf, fieldsOf, type ShownDifference, type ShownField } from '../record-text.ts';
import { type Root, recordPath } from './frame.ts';
import { type Html, html } from './html.ts';
import { moment } from './list-sections.ts';

const words = {
  insert: { tone: 'good', text: 'New' },
  update: { tone: 'warn', text: 'Changed' },
  removal: { tone: 'bad', text: 'Removed' },
} as const;

/** The latest changes, run by run, with what was before and after. */
export function changeSection({ changes, lists }: ReportData, root: Root): Html {
  const titles = new Map(lists.map(({ resource, title }) => [resource, title]));
  const byRun = [...Map.groupBy(changes, ({ runId }) => runId)];
  return html`<section aria-labelledby="changes">
    <h2 id="changes">Latest changes</h2>
    ${
      changes.length === 0
        ? html`<p class="empty">Nothing has changed since the lists were first read.</p>`
        : html`<p class="hint">A few of each kind, run by run. <code>docmirror changes</code> shows all of them.</p>`
    }
    ${byRun.map(([runId, ofRun]) => runChanges(runId, ofRun, titles, root))}
  </section>`;
}

function runChanges(
  runId: number,
  changes: readonly Change[],
  titles: ReadonlyMap<string, string>,
  root: Root,
): Html {
  const at = changes.find(({ changedAt }) => changedAt !== null)?.changedAt ?? null;
  return html`<h3>Run ${runId}${at !== null && html`<small>${moment(at)}</small>`}</h3>
    <ul class="changes">${changes.map(change => entry(change, titles, root))}</ul>`;
}

function entry(change: Change, titles: ReadonlyMap<string, string>, root: Root): Html {
  const { operation, resource, recordId, record, before } = change;
  const { tone, text } = words[operation];
  const name = html`${titles.get(resource) ?? 'Connections'} <span class="id">${recordId}</span>`;
  return html`<li>
    <p class="what"><span class=${`badge ${tone}`}>${text}</span> ${root === null ? name : html`<a href=${recordPath(root, resource, recordId)}>${name}</a>`}</p>
    ${before === null || record === null ? fieldList(fieldsOf(record)) : differenceList(differencesOf(before, record))}
  </li>`;
}

/** A record's fields. */
export function fieldList(fields: readonly ShownField[]): Html {
  return html`<dl class="fields">${fields.map(
    ({ name, text }) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`,
  )}</dl>`;
}

/** What an update changed, before and after. */
export function differenceList(differences: readonly ShownDifference[]): Html {
  return html`<dl class="fields wide-fields">${differences.map(
    ({ name, before, after, note }) => html`<div><dt>${name}</dt>
      <dd><del>${before === '' ? 'nothing' : before}</del> <span class="to">→</span> <ins>${after === '' ? 'nothing' : after}${note}</ins></dd>
    </div>`,
  )}</dl>`;
}
