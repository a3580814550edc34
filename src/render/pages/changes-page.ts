import { browsables } from '../../contract/browsable.ts';
import type { Change } from '../../store/read/change.ts';
import { differencesOf, fieldsOf } from '../record-text.ts';
import { differenceList, fieldList } from '../report/change-section.ts';
import { type Page, recordPath } from '../report/frame.ts';
import { type Html, html } from '../report/html.ts';
import { moment } from '../report/list-sections.ts';
import { type Parameters, queryWith } from './address.ts';
import { type Choices, filterForm, linksOf } from './filter-form.ts';
import { pageLinks } from './list-page.ts';
import { servedPage } from './served-page.ts';
import { titleOr } from './words.ts';

/** The content of the page of changes. */
export interface ChangesView {
  readonly changes: readonly Change[];
  /** The parameters of the filter. */
  readonly names: readonly string[];
  readonly parameters: Parameters;
  readonly choices: Choices;
  readonly before: string | null;
  readonly after: string | null;
}

const root = './';
const words = {
  insert: { tone: 'good', text: 'New' },
  update: { tone: 'warn', text: 'Changed' },
  removal: { tone: 'bad', text: 'Removed' },
} as const;

/** The changes of runs, run by run, with filters. */
export function changesPage(view: ChangesView): Page {
  const { changes, names, parameters, choices } = view;
  const { run } = parameters;
  const isOldestFirst = parameters.order === 'asc';
  const heading = run === undefined ? 'Changes' : `Changes of run ${run}`;
  const byRun = [...Map.groupBy(changes, ({ runId }) => runId)];
  const main = html`
      <section aria-label="Filter">${filterForm(names, parameters, choices)}</section>
      <section aria-labelledby="found">
        <h2 id="found">${isOldestFirst ? 'The oldest first' : 'The newest first'}</h2>
        ${linksOf('changes.csv', parameters)}
        <p class="links"><a href=${queryWith(parameters, { sort: 'runId', order: isOldestFirst ? 'desc' : 'asc' })}>${isOldestFirst ? 'Newest first' : 'Oldest first'}</a></p>
        ${changes.length === 0 && html`<p class="empty">Nothing fits the filter.</p>`}
        ${byRun.map(([runId, ofRun]) => runChanges(runId, ofRun))}
        ${pageLinks(view)}
      </section>`;
  return servedPage({ heading, main, root, isWide: true });
}

function runChanges(runId: number, changes: readonly Change[]): Html {
  const at = changes.find(({ changedAt }) => changedAt !== null)?.changedAt ?? null;
  return html`<h3><a href=${`?run=${runId}`}>Run ${runId}</a>${at !== null && html`<small>${moment(at)}</small>`}</h3>
    <ul class="changes">${changes.map(entry)}</ul>`;
}

function entry({ operation, resource, recordId, record, before }: Change): Html {
  const { tone, text } = words[operation];
  const browsable = browsables.find(each => each.resource === resource);
  const titleName = browsable?.texts[0]?.name;
  const fields = fieldsOf(resource, record);
  const title = fields.find(field => field.name === titleName)?.text;
  return html`<li>
    <p class="what"><span class=${`badge ${tone}`}>${text}</span> <a href=${recordPath(root, resource, recordId)}>${titleOr(title)}</a> <span class="id">${browsable?.title} ${recordId}</span></p>
    ${before === null || record === null ? fieldList(fields.filter(field => field.name !== titleName)) : differenceList(differencesOf(resource, before, record))}
  </li>`;
}
