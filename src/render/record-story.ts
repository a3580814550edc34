import { printable } from '../printable.ts';
import type { RecordStory, StoryRun, StoryVersion } from '../store/read/record-story.ts';
import { count, counted, instant } from './numbers.ts';
import type { OutputOf } from './outputs/outputs.ts';
import { differenceTexts, erasedText, fieldsOf, itemOf, wholeMax } from './record-text.ts';
import { renderTable } from './table.ts';

/** The request, and the records that were found. */
export interface FoundRecords extends Omit<OutputOf['show'], 'records'> {
  /** The id or reference in the request. */
  readonly wanted: string;
  readonly stories: readonly RecordStory[];
}

/** The output of `show --json`, with no value cut. */
export function showOutputOf({ stories, wanted: _wanted, ...found }: FoundRecords): OutputOf['show'] {
  const records = stories.map(({ recordId, versionCount, versions }) => {
    const shown = versions.map(({ from, to, endedBy, isFirst, record }) => ({
      fromRunId: from.runId,
      fromAt: from.at,
      toRunId: to?.runId ?? null,
      toAt: to?.at ?? null,
      endedBy,
      isFirst,
      record: record === null ? null : itemOf(record),
      ...(record === null && { isErased: true }),
    }));
    const stands = versions[0]?.to === null;
    return { recordId, stands, versionCount, record: (stands && shown[0]?.record) || null, versions: shown };
  });
  return { ...found, records };
}

/** One record for people: its fields, then the changes of each version, the newest first. */
export function storyText({ resource, recordId, versions, versionCount }: RecordStory): string {
  const newest = versions[0] as StoryVersion;
  const state =
    newest.to === null
      ? `unchanged since run ${atRun(newest.from)}`
      : `gone since run ${atRun(newest.to)}; its last text was`;
  const rest = versionCount - versions.length;
  const lines = [
    `${resource} ${recordId}, ${state}:`,
    '',
    ...fieldLines(resource, newest.record),
    '',
    versionCount === 1 ? 'One version:' : `${counted(versionCount, 'version')}, the newest first:`,
    ...versions.flatMap(version => ['', ...versionLines(resource, version, version === newest)]),
    ...(rest > 0 ? ['', `… and ${counted(rest, 'older one')} in record_history.`] : []),
  ];
  return lines.map(line => `${line.trimEnd()}\n`).join('');
}

function versionLines(resource: string, version: StoryVersion, isShownAbove: boolean): string[] {
  const { isFirst, record, before, from, to, endedBy } = version;
  const end = endedBy === 'removal' ? 'removed' : 'replaced';
  const span =
    to === null ? `Since run ${atRun(from)}` : `From run ${atRun(from)} until run ${atRun(to)} ${end} it`;
  if (record === null) return [span, `  ${erasedText}`];
  if (before !== null)
    return [span, ...differenceTexts(resource, before.record, record).map(text => `  ~ ${text}`)];
  const beginning = isFirst ? '  + new in the list' : '  the version before it is no longer kept';
  if (isShownAbove) return [span, `${beginning}; what it says is shown above`];
  return [span, `${beginning}:`, ...fieldLines(resource, record).map(line => `  ${line}`)];
}

function atRun({ runId, at }: StoryRun): string {
  return at === null ? String(runId) : `${runId} (${instant(at)})`;
}

function fieldLines(resource: string, record: string | null): string[] {
  const fields = fieldsOf(resource, record, wholeMax);
  const width = Math.max(0, ...fields.map(({ name }) => name.length));
  return fields.map(({ name, text }) => `  ${name.padEnd(width)}  ${text}`);
}

/** Several records with one reference for people, a line each, and how to see one of them. */
export function matchesText({ resource, wanted, matchCount, stories }: FoundRecords, width: number): string {
  const rows = stories.map(({ recordId, versions: [newest] }) => {
    const fields = fieldsOf(resource, newest?.record ?? null);
    const textOf = (name: string) => fields.find(field => field.name === name)?.text ?? '–';
    const state = newest?.to == null ? 'listed' : `gone since run ${newest.to.runId}`;
    return [
      String(recordId),
      textOf('sourceDocumentVersion'),
      textOf('exportedAt'),
      state,
      textOf('sourceDocumentTitle'),
    ];
  });
  const rest = matchCount - stories.length;
  return `${counted(matchCount, 'record')} of ${resource} have the reference ${printable(wanted)}:

${renderTable(['ID', 'Version', 'Exported', 'State', 'Title'], rows, width)}${rest > 0 ? `… and ${count(rest)} more\n` : ''}
"docmirror show ${resource} ID" shows one of them with all its versions.
`;
}
