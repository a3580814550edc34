import { browsableOf } from '../../contract/browsable.ts';
import type { RecordStory, StoryRun, StoryVersion } from '../../store/read/record-story.ts';
import { counted } from '../numbers.ts';
import { differencesOf, fieldsOf, type ShownField, versionOnPage, wholeRecord } from '../record-text.ts';
import { differenceList, fieldList } from '../report/change-section.ts';
import { type Page, recordPath } from '../report/frame.ts';
import { type Html, html } from '../report/html.ts';
import { moment } from '../report/list-sections.ts';
import { servedPage } from './served-page.ts';
import { titleOr } from './words.ts';

/** The report, seen from a record's page. */
const root = '../../';

type Above = '../' | '../../';

/** One record as a page: its fields, each version, the newest first, and the differences between them. */
export function recordPage(story: RecordStory, list: string): Page {
  const { recordId, versions, firstSeen } = story;
  const [newest] = versions;
  const fields = fieldsOf(story.resource, newest?.record ?? null, wholeRecord);
  const titleName = browsableOf(story.resource).texts[0]?.name;
  const name = titleOr(fields.find(field => field.name === titleName)?.text);
  const intro = html`${list} ${recordId}. ${newest === undefined ? null : stateOf(newest, root)}. First seen by ${runLink(firstSeen, root)}.`;
  const main = html`
      <section aria-labelledby="says">
        <h2 id="says">${newest?.to === null ? 'What it says' : 'What it last said'}</h2>
        <dl class="record">${fields.map(
          field => html`<dt>${field.name}</dt><dd>${shownValue(field)}</dd>`,
        )}</dl>
      </section>
      <section aria-labelledby="versions">
        <h2 id="versions">Versions</h2>
        ${versionList(story, root)}
      </section>`;
  return servedPage({ heading: name, intro, main, root });
}

/** A field's text, with links to its connections. */
function shownValue({ text, connections }: ShownField): Html {
  if (connections.length === 0) return text;
  return connections.map(
    (connection, at) =>
      html`${at > 0 && ', '}<a href=${recordPath(root, 'connections', connection.id)}>${connection.text}</a>`,
  );
}

/** Whether the record is in the mirror, and since when. */
export function stateOf({ from, to }: StoryVersion, above: Above): Html {
  return to === null
    ? html`<span class="badge good">Listed</span> since ${runLink(from, above)}`
    : html`<span class="badge bad">Gone</span> since ${runLink(to, above)}`;
}

/** Each version, the newest first, and the differences between them. */
export function versionList({ resource, recordId, versions, versionCount }: RecordStory, above: Above): Html {
  const rest = versionCount - versions.length;
  return html`<p class="hint">${versionCount === 1 ? 'One version' : `${counted(versionCount, 'version')}, the newest first`}</p>
    <ol class="versions" reversed>${versions.map((version, at) => versionEntry(resource, version, at === 0, above))}</ol>
    ${rest > 0 && html`<p class="hint">The ${counted(rest, 'older one')}: <code>docmirror show ${resource} ${recordId}</code></p>`}`;
}

function versionEntry(resource: string, version: StoryVersion, isShownAbove: boolean, above: Above): Html {
  const { isFirst, before, record } = version;
  const beginning = isFirst ? 'New in the list' : 'The version before it is no longer kept';
  return html`<li>
    <h3>${spanOf(version, above)}</h3>
    ${
      before !== null
        ? differenceList(differencesOf(resource, before.record, record, versionOnPage))
        : html`<p>${beginning}${isShownAbove && '; what it says is shown above'}</p>
          ${!isShownAbove && fieldList(fieldsOf(resource, record, versionOnPage))}`
    }
  </li>`;
}

function spanOf({ from, to, endedBy }: StoryVersion, above: Above): Html {
  if (to === null) return html`Since ${runLink(from, above)}`;
  return html`From ${runLink(from, above)} until ${runLink(to, above)} ${endedBy === 'removal' ? 'removed' : 'replaced'} it`;
}

/** A run, as a link to its changes. */
export function runLink({ runId, at }: StoryRun, above: Above): Html {
  return html`<a href=${`${above}changes?run=${runId}`}>run ${runId}</a>${at !== null && html` (${moment(at)})`}`;
}

/** The page for a record that the mirror never had. */
export function noRecordPage(root: Above): Page {
  const main = html`<section><p class="empty">The mirror has no such record, and its history has none. Its title or reference may find it.</p></section>`;
  return servedPage({ heading: 'No such record', main, root, hasNote: false });
}
