import type { RecordStory, StoryRun, StoryVersion } from '../../store/read/record-story.ts';
import { counted } from '../numbers.ts';
import { differencesOf, fieldsOf, type ShownField, versionOnPage, wholeRecord } from '../record-text.ts';
import { differenceList, fieldList } from './change-section.ts';
import { framed, navigation, type Page, recordPath } from './frame.ts';
import { type Html, html } from './html.ts';
import { moment } from './list-sections.ts';

/** A record's page lies this deep below the report. */
const root = '../../';

/** One record as a page: what it says, each version, the newest first, and what changed between two. */
export function recordPage(story: RecordStory, list: string): Page {
  const { recordId, versions, versionCount } = story;
  const [newest] = versions;
  const name = `${list} ${recordId}`;
  const rest = versionCount - versions.length;
  const body = html`<body>
    <header>
      <h1>${name}</h1>
      <p>${newest === undefined ? null : stateOf(newest)}</p>
      ${navigation(root)}
    </header>
    <main>
      <section aria-labelledby="says">
        <h2 id="says">${newest?.to === null ? 'What it says' : 'What it last said'}</h2>
        <dl class="record">${fieldsOf(newest?.record ?? null, wholeRecord).map(
          field => html`<dt>${field.name}</dt><dd>${shownValue(field)}</dd>`,
        )}</dl>
      </section>
      <section aria-labelledby="versions">
        <h2 id="versions">${versionCount === 1 ? 'One version' : `${counted(versionCount, 'version')}, the newest first`}</h2>
        <ol class="versions" reversed>${versions.map(version => versionEntry(version, version === newest))}</ol>
        ${rest > 0 && html`<p class="hint">The ${counted(rest, 'older one')}: <code>docmirror show ${story.resource} ${recordId}</code></p>`}
      </section>
    </main>
    <footer><p>Times are UTC. Secret parts of addresses are never shown.</p></footer>
  </body>`;
  return framed(`${name} – docmirror`, body, root);
}

/** A field's text, in which connections lead to their pages. */
function shownValue({ text, connections }: ShownField): Html {
  if (connections.length === 0) return text;
  return connections.map(
    (connection, at) =>
      html`${at > 0 && ', '}<a href=${recordPath(root, 'connections', connection.id)}>${connection.text}</a>`,
  );
}

function stateOf({ from, to }: StoryVersion): Html {
  return to === null
    ? html`<span class="badge good">Stands</span> since ${run(from)}`
    : html`<span class="badge bad">Gone</span> since ${run(to)}`;
}

function versionEntry(version: StoryVersion, isShownAbove: boolean): Html {
  const { isFirst, before, record } = version;
  const beginning = isFirst ? 'New in the list' : 'The version before it is no longer kept';
  return html`<li>
    <h3>${spanOf(version)}</h3>
    ${
      before !== null
        ? differenceList(differencesOf(before.record, record, versionOnPage))
        : html`<p>${beginning}${isShownAbove && '; what it says is shown above'}</p>
          ${!isShownAbove && fieldList(fieldsOf(record, versionOnPage))}`
    }
  </li>`;
}

function spanOf({ from, to, endedBy }: StoryVersion): Html {
  if (to === null) return html`Since ${run(from)}`;
  return html`From ${run(from)} until ${run(to)} ${endedBy === 'removal' ? 'removed' : 'replaced'} it`;
}

function run({ runId, at }: StoryRun): Html {
  return html`run ${runId}${at !== null && html` (${moment(at)})`}`;
}

/** What stands where a record is asked for that the mirror never had. */
export function noRecordPage(): Page {
  const body = html`<body>
    <header><h1>No such record</h1>${navigation(root)}</header>
    <main><section><p class="empty">The mirror has no such record, and its history has none. Its title or reference may find it.</p></section></main>
  </body>`;
  return framed('No such record – docmirror', body, root);
}
