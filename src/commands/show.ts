import { keptResources } from '../contract/lists.ts';
import { DocmirrorError, UsageError } from '../errors.ts';
import { printable } from '../printable.ts';
import type { OutputOf } from '../render/outputs.ts';
import { type MatchedRecords, matchesText, showOutputOf, storyText } from '../render/record-text.ts';
import { rejectedText, runsText } from '../render/runs.ts';
import { findByReference, readStory } from '../store/read/history/story.ts';
import { readRejected } from '../store/read/runs/rejected.ts';
import { RunReader } from '../store/read/runs/runs.ts';
import { readMirror, type Sqlite } from '../store/read/sqlite.ts';
import { command } from './command.ts';
import { defaulting, numeral, option, required, typed } from './flags.ts';

/** `docmirror runs` */
export const runs = command({
  flags: { limit: defaulting(numeral('N', [1, 1_000_000]), '20') },
  run({ limit }, { config }) {
    using reader = new RunReader(config.database);
    return reader.runs(limit);
  },
  output: (found): OutputOf['runs'] => found,
  text: runsText,
});

/** `docmirror rejected` */
export const rejected = command({
  flags: { limit: defaulting(numeral('N', [0, 1_000_000]), '20') },
  run: ({ limit }, { config }) => readRejected(config.database, limit),
  output: (found): OutputOf['rejected'] => found,
  text: rejectedText,
});

const versionsMax = 10_000;
const matchesMax = 100;

/** `docmirror show` */
export const show = command({
  arguments: { resource: required(option(keptResources, 'RESOURCE')), id: required(typed('ID')) },
  flags: {},
  run({ resource, id }, { config }) {
    return readMirror(config.database, sqlite => find(sqlite, resource, id));
  },
  output: showOutputOf,
  text(found, width) {
    const { stories, wanted, alsoReferenceOf } = found;
    const [story] = stories;
    if (story === undefined || stories.length > 1) return matchesText(found, width);
    if (alsoReferenceOf.length === 0) return storyText(story);
    return `${storyText(story)}\n${printable(wanted)} is also the sourceDocumentReference of the exports with these ids: ${alsoReferenceOf.join(', ')}.\n`;
  },
});

/** The record with that id or, if there is none, the exports with that reference. 007 is no id, but can be a reference. */
function find(sqlite: Sqlite, resource: string, wanted: string): MatchedRecords {
  const hasReferences = resource === 'document-exports';
  const id = /^(?:0|-?[1-9]\d*)$/.test(wanted) ? Number(wanted) : Number.NaN;
  const isId = Number.isSafeInteger(id);
  const said = `ID: the ids of ${resource} are whole numbers up to 2^53 − 1, got ${JSON.stringify(wanted)}.`;
  if (!isId && !hasReferences) throw new UsageError(said);
  const story = isId ? readStory(sqlite, resource, id, versionsMax) : null;
  const matches = hasReferences ? findByReference(sqlite, wanted, matchesMax) : { recordIds: [], count: 0 };
  // The record with that id comes first, and the other matches are named.
  const alsoReferenceOf = story === null ? [] : matches.recordIds.filter(each => each !== id);
  if (story !== null)
    return { resource, wanted, matchedBy: 'id', matchCount: 1, stories: [story], alsoReferenceOf };
  const by = hasReferences ? 'id or sourceDocumentReference' : 'id';
  const none = `The mirror has no record of ${resource} with the ${by} ${JSON.stringify(wanted)}, and its history has none.`;
  if (matches.count === 0) throw new DocmirrorError('not_found', none);
  const stories = matches.recordIds.flatMap(each => readStory(sqlite, resource, each, versionsMax) ?? []);
  return { resource, wanted, matchedBy: 'reference', matchCount: matches.count, stories, alsoReferenceOf };
}
