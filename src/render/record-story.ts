import { printable } from '../printable.ts';
import type { RecordStory, StoryRun, StoryVersion } from '../store/read/record-story.ts';
import { itemOf } from './flat-changes.ts';
import { count, counted, instant } from './numbers.ts';
import type { ShowOutput } from './outputs/records.ts';
import { differencesOf, erasedText, fieldsOf, type ShownField, wholeRecord } from './record-text.ts';
import { renderTable } from './table.ts';

/** The request, and the records that were found. */
export interface FoundRecords {
  readonly resource: string;
  /** How they were found. */
  readonly matchedBy: 'id' | 'reference';
  /** The id or reference in the request. */
  readonly wanted: string;
  /** The number of all records that were found; there can be more than are shown. */
  readonly matchCount: number;
  readonly stories: readonly RecordStory[];
  /** If a record was found by its id: the ids of other records that have this id as their reference. */
  readonly alsoReferenceOf: readonly number[];
}

/** True if the record is in the mirror now. */
function stands({ versions }: RecordStory): boolean {
  return versions[0]?.to === null;
}

/** The output of `show --json`, with no value cut. */
export function showOutputOf({ stories, ...found }: FoundRecords): ShowOutput {
  const { resource, matchedBy, matchCount, alsoReferenceOf } = found;
  const records = stories.map(story => ({
    recordId: story.recordId,
    stands: stands(story),
    versionCount: story.versionCount,
    record: stands(story) ? itemOf(story.versions[0]?.record ?? null) : null,
    versions: story.versions.map(({ from, to, endedBy, isFirst, record }) => ({
      fromRunId: from.runId,
      fromAt: from.at,
      toRunId: to?.runId ?? null,
      toAt: to?.at ?? null,
      endedBy,
      isFirst,
      record: itemOf(record),
      ...(record === null && { isErased: true }),
    })),
  }));
  return { resource, matchedBy, matchCount, alsoReferenceOf, records };
}

/** One record for people: its fields, then the changes of each version, the newest first. */
export function storyText(story: RecordStory): string {
  const { resource, recordId, versions, versionCount } = story;
  const [newest] = versions;
  if (newest === undefined) return '';
  const state = stands(story)
    ? `unchanged since run ${atRun(newest.from)}`
    : `gone since run ${atRun(newest.to ?? newest.from)}; its last text was`;
  const rest = versionCount - versions.length;
  return [
    `${resource} ${recordId}, ${state}:`,
    '',
    ...fieldLines(fieldsOf(resource, newest.record, wholeRecord)),
    '',
    versionCount === 1 ? 'One version:' : `${counted(versionCount, 'version')}, the newest first:`,
    ...versions.flatMap(version => ['', ...versionLines(resource, version, version === newest)]),
    ...(rest > 0 ? ['', `… and ${counted(rest, 'older one')} in record_history.`] : []),
  ]
    .map(line => `${line.trimEnd()}\n`)
    .join('');
}

function versionLines(resource: string, version: StoryVersion, isShownAbove: boolean): string[] {
  const { isFirst, record, before } = version;
  const lines = [spanOf(version)];
  if (record === null) return [...lines, `  ${erasedText}`];
  if (before !== null) {
    const differences = differencesOf(resource, before.record, record, wholeRecord);
    return [
      ...lines,
      ...differences.map(
        ({ name, before: then, after, note }) => `  ~ ${name}: ${then || '–'} → ${after || '–'}${note}`,
      ),
    ];
  }
  const beginning = isFirst ? '  + new in the list' : '  the version before it is no longer kept';
  if (isShownAbove) return [...lines, `${beginning}; what it says is shown above`];
  return [
    ...lines,
    `${beginning}:`,
    ...fieldLines(fieldsOf(resource, record, wholeRecord)).map(line => `  ${line}`),
  ];
}

/** The runs between which the mirror had a version, in words. */
function spanOf({ from, to, endedBy }: StoryVersion): string {
  if (to === null) return `Since run ${atRun(from)}`;
  const end = endedBy === 'removal' ? 'removed' : 'replaced';
  return `From run ${atRun(from)} until run ${atRun(to)} ${end} it`;
}

function atRun({ runId, at }: StoryRun): string {
  return at === null ? String(runId) : `${runId} (${instant(at)})`;
}

function fieldLines(fields: readonly ShownField[]): string[] {
  const width = Math.max(0, ...fields.map(({ name }) => name.length));
  return fields.map(({ name, text }) => `  ${name.padEnd(width)}  ${text}`);
}

/** Several records with one reference for people, a line each, and how to see one of them. */
export function matchesText(
  { resource, wanted, matchCount, stories }: FoundRecords,
  width = Number.POSITIVE_INFINITY,
): string {
  const rows = stories.map(story => {
    const [newest] = story.versions;
    const fields = newest === undefined ? [] : fieldsOf(resource, newest.record);
    const textOf = (name: string) => fields.find(field => field.name === name)?.text ?? '–';
    const state = newest?.to == null ? 'stands' : `gone since run ${newest.to.runId}`;
    return [
      String(story.recordId),
      textOf('sourceDocumentVersion'),
      textOf('exportedAt'),
      state,
      textOf('sourceDocumentTitle'),
    ];
  });
  const rest = matchCount - stories.length;
  return [
    `${counted(matchCount, 'record')} of ${resource} have the reference ${printable(wanted)}:\n\n`,
    renderTable([{ right: 'ID' }, 'Version', 'Exported', 'State', 'Title'], rows, width),
    ...(rest > 0 ? [`… and ${count(rest)} more\n`] : []),
    `\n"docmirror show ${resource} ID" shows one of them with all its versions.\n`,
  ].join('');
}
