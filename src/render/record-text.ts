import { greatestOf } from '../contract/extremes.ts';
import { isObject, parseExact } from '../contract/json.ts';
import { fieldsOf, lists } from '../contract/lists.ts';
import { printable } from '../printable.ts';
import { changedFields, type Item } from '../store/read/cells.ts';
import type { RecordStory, StoryRun, StoryVersion } from '../store/read/history/story.ts';
import { shownEndpoint, withoutAddressSecrets } from './endpoint.ts';
import { count, counted, instant } from './numbers.ts';
import type { OutputOf } from './outputs.ts';
import { cut, linesOf, renderTable } from './table.ts';

/** A field of a record, in words. */
export type ShownField = ReturnType<typeof shownFieldsOf>[number];

/** The most columns of a field of a record among others, which is also shown without the ids of its connections. */
export const briefMax = 160;

/** The same of a record by itself. */
export const wholeMax = 20_000;

const erasedText = 'the text was erased';

/** A record with all digits of its numbers. Throws a SyntaxError if it is no object in JSON: another program wrote to the mirror. */
export function itemOf(text: string): Item {
  const value = parseExact(text);
  if (isObject(value)) return value;
  throw new SyntaxError('a record is not an object in JSON');
}

/** A record's fields that have a value, and the connections in each; `record` is its JSON text, null if it was erased. */
export function shownFieldsOf(resource: string, record: string | null, textMax = briefMax) {
  if (record === null) return [{ name: 'erased', text: erasedText, connections: [] }];
  return Object.entries(itemOf(record))
    .map(([name, value]) => {
      const kind = fieldsOf(resource).find(field => field.name === name)?.kind ?? '';
      const references = kind.startsWith('connection') ? [value].flat() : [];
      const connections = references.flatMap(each => {
        if (!isObject(each) || typeof each.id !== 'number') return [];
        return [{ id: each.id, text: printable(words(each, textMax > briefMax)) }];
      });
      return { name: printable(name), text: shown(resource, name, value, textMax), connections };
    })
    .filter(({ text }) => text !== '');
}

type Text = string | null;

/** The changes of an update, field by field, with a note after both values, which can be empty; null is a version that was erased. */
export function differencesOf(resource: string, before: Text, after: Text, textMax = wholeMax) {
  if (before === null || after === null)
    return [{ name: 'erased', before: '', after: '', note: ` (${erasedText})` }];
  const [then, now] = [itemOf(before), itemOf(after)];
  return changedFields(resource, then, now).map(name => {
    const old = shown(resource, name, then[name], textMax);
    const current = shown(resource, name, now[name], textMax);
    // The only difference can be in the query of an address, a connection's id, or a secret.
    const note = old === current && old !== '' ? ' (a part that is not shown has changed)' : '';
    return { name: printable(name), before: old, after: current, note };
  });
}

/** The same in lines of text. */
export function differenceTexts(resource: string, before: Text, after: Text): string[] {
  return differencesOf(resource, before, after).map(
    each => `${each.name}: ${each.before || '–'} → ${each.after || '–'}${each.note}`,
  );
}

function shown(resource: string, name: string, value: unknown, textMax: number): string {
  if (value === null || value === undefined) return '';
  const field = fieldsOf(resource).find(each => each.name === name);
  if (field?.isSecret) return shownEndpoint(String(value));
  // Nobody knows which of the fields that the service adds are secret.
  const isHidden =
    field === undefined && name !== 'id' && lists.find(each => each.resource === resource)?.hasSecrets;
  return isHidden ? '(not shown)' : cut(printable(words(value, textMax > briefMax)), textMax);
}

function words(value: unknown, withIds: boolean): string {
  if (Array.isArray(value)) return value.map(each => words(each, withIds)).join(', ') || 'none';
  if (!isObject(value))
    return withoutAddressSecrets(typeof value === 'string' ? value : JSON.stringify(value));
  const { id, name } = value;
  if (typeof name === 'string') return words(name, withIds) + (withIds && id !== undefined ? ` (${id})` : '');
  const members = Object.entries(value).map(([key, each]) => `${key}: ${words(each, withIds)}`);
  return members.join(', ');
}

/** The request, and the records that were found. */
export interface MatchedRecords extends Omit<OutputOf['show'], 'records'> {
  readonly wanted: string;
  readonly stories: readonly RecordStory[];
}

/** The output of `show --json`, with no value cut. */
export function showOutputOf({ stories, wanted: _wanted, ...found }: MatchedRecords): OutputOf['show'] {
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
  const { from, to } = newest;
  const state = to ? `gone since run ${atRun(to)}; its last text was` : `unchanged since run ${atRun(from)}`;
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
  return linesOf(lines);
}

function versionLines(resource: string, version: StoryVersion, isShownAbove: boolean): string[] {
  const { isFirst, record, before, from, to, endedBy } = version;
  const end = endedBy === 'removal' ? 'removed' : 'replaced';
  const span = `From run ${atRun(from)}${to === null ? '' : ` until run ${atRun(to)} ${end} it`}`;
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
  const fields = shownFieldsOf(resource, record, wholeMax);
  const width = Math.max(0, greatestOf(fields.map(({ name }) => name.length)));
  return fields.map(({ name, text }) => `  ${name.padEnd(width)}  ${text}`);
}

/** Several records with one reference for people, a line each, and how to see one of them. */
export function matchesText({ resource, wanted, matchCount, stories }: MatchedRecords, width: number) {
  const rows = stories.map(({ recordId, versions: [newest] }) => {
    const fields = shownFieldsOf(resource, newest?.record ?? null);
    const textOf = (name: string) => fields.find(field => field.name === name)?.text ?? '–';
    const state = newest?.to == null ? 'listed' : `gone since run ${newest.to.runId}`;
    const texts = ['sourceDocumentVersion', 'exportedAt', 'sourceDocumentTitle'].map(textOf);
    return [String(recordId), state, ...texts];
  });
  const rest = matchCount - stories.length;
  return linesOf([
    `${counted(matchCount, 'record')} of ${resource} have the reference ${printable(wanted)}:`,
    '',
    renderTable(['ID', 'State', 'Version', 'Exported', 'Title'], rows, width),
    rest > 0 && `… and ${count(rest)} more`,
    '',
    `"docmirror show ${resource} ID" shows one of them with all its versions.`,
  ]);
}
