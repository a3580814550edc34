// This table describes the output of each command with --json. It is the source of docs/json.md and of the schemas in the package.

/** A part of a JSON schema. */
export interface Shape {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly (string | null)[];
  readonly const?: string;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
}

/** The output of a command. */
export interface JsonOutput {
  /** The command as you type it, without `docmirror`. */
  readonly command: string;
  /** One sentence about the output. */
  readonly about: string;
  /** The shape of one line, if a command prints several. */
  readonly shape: Shape;
}

const text = (description: string): Shape => ({ type: 'string', description });
const whole = (description: string): Shape => ({ type: 'integer', description });
const yesOrNo = (description: string): Shape => ({ type: 'boolean', description });
const anything = (description: string): Shape => ({ description });
const hex = (digits: number, description: string): Shape => ({
  type: 'string',
  pattern: `^[0-9a-f]{${digits}}$`,
  description: `${description} (${digits} hexadecimal digits)`,
});
const oneOf = (words: readonly string[], description: string): Shape => ({
  type: 'string',
  enum: words,
  description,
});
const list = (items: Shape, description: string): Shape => ({ type: 'array', items, description });
const object = (
  properties: Readonly<Record<string, Shape>>,
  description = '',
  optional: readonly string[] = [],
): Shape => ({
  type: 'object',
  description,
  properties,
  required: Object.keys(properties).filter(name => !optional.includes(name)),
});

/** The same, or null. */
function orNull(shape: Shape): Shape {
  return {
    ...shape,
    type: [...[shape.type ?? []].flat(), 'null'],
    ...(shape.enum !== undefined && { enum: [...shape.enum, null] }),
  };
}

const time = (description: string) => text(`${description}, in UTC (ISO 8601)`);

const resource = oneOf(['document-exports', 'collections', 'webhooks'], 'the list');
const resourceOrConnections = oneOf(
  ['document-exports', 'collections', 'webhooks', 'connections'],
  'the list, or `connections`',
);

const errorShape = (description: string) =>
  object(
    {
      code: text('one of the codes of docs/troubleshooting.md, for programs'),
      message: text('what happened and what to do, for people'),
    },
    description,
  );

const statuses = ['running', 'died', 'completed', 'partial', 'failed', 'cancelled', 'interrupted'];
const status = (description: string) =>
  oneOf(
    statuses,
    `${description}; \`died\` if its process is gone, and \`interrupted\` once the next run has recorded that`,
  );

const receiptHead = orNull(
  object(
    {
      leafIndex: whole('its place in the log, from 0'),
      leafHash: hex(64, 'its hash'),
      treeSize: whole('receipts in the log'),
      rootHash: hex(64, 'the root hash of all receipts'),
    },
    "the run's receipt; null in a dry run",
  ),
);

/** How a list ended in a run. */
const outcome = {
  resource,
  status: status('how the list ended'),
  mode: orNull(oneOf(['full', 'incremental'], 'how it was read; null if it was not read')),
  completeness: orNull(
    oneOf(['proven', 'incremental', 'unproven'], 'how sure the run is of it; null if it was not written'),
  ),
  firstPageNo: orNull(whole('the number of the first page')),
  pageSize: orNull(whole('records a page')),
  pageCount: orNull(whole('pages, by the word of the service')),
  totalRecordCount: orNull(whole('records, as the service stated')),
  recordsSeen: whole('records that the run saw, each once'),
  inserted: whole('records that were new'),
  updated: whole('records that had changed'),
  removed: whole('records that were gone, and were removed'),
  unchanged: whole('records that were as before'),
  rejected: whole('records that could not be read'),
  removalsWithheld: whole('records that were gone but were kept (removals withheld)'),
  undecided: whole('known records whose presence the run could not decide'),
  walks: whole('readings that were begun'),
  requests: whole('requests that were sent'),
  retries: whole('how many of them were further tries'),
  bytes: whole('bytes that were received'),
  waitedMs: whole(
    'time spent waiting because the service failed or asked docmirror to wait, in milliseconds',
  ),
  error: orNull(errorShape('what ended it; null if nothing went wrong')),
  reason: orNull(text('why it is not proven, or why removals were withheld')),
  checksum: orNull(hex(32, "the sum of the contents of the list's rows")),
};

/** The same as it is recorded. */
const recordedOutcome = {
  ...outcome,
  startedAt: time('when the run began with the list'),
  completedAt: orNull(time('when it was done with it; null while it goes on')),
  recordCount: orNull(whole('records in the mirror after the run')),
};

const runHead = {
  runId: whole('the number of the run'),
  status: status('how it ended'),
  trigger: text('what started it: `manual`, `schedule` in `watch`, or the value of `DOCMIRROR_TRIGGER`'),
  startedAt: time('when it began'),
};

const sync = object({
  ...runHead,
  runId: orNull(whole('the number of the run; null in a dry run')),
  rowsDropped: orNull(whole('altered rows that `--rebuild` dropped; null if the mirror was not rebuilt')),
  completedAt: time('when it ended'),
  durationMs: whole('how long it took, in milliseconds'),
  error: orNull(errorShape('the first error; null if there was none')),
  resources: list(
    object({
      ...outcome,
      newFields: list(
        object({
          field: text('its name'),
          jsonType: oneOf(['string', 'number', 'boolean', 'object', 'array', 'null'], 'of its values'),
        }),
        'fields that no column exists for and that no run has met before',
      ),
      emptiedColumns: list(
        text('a column'),
        'columns that no record has a value in any more, though each had one after the last full sync',
      ),
      changedIdentity: orNull(
        text('the one field in which withheld records differ from as many newer ones; null if there is none'),
      ),
    }),
    'how each list ended, in the order of their definition',
  ),
  receipt: receiptHead,
  share: orNull(
    object(
      {
        path: text('the file'),
        error: orNull(errorShape('why it could not be made; null if it is as the mirror')),
      },
      'the copy for everybody; null if none is set',
    ),
  ),
});

const runs = list(
  object({
    ...runHead,
    completedAt: orNull(time('when it ended; null while it goes on, and if its process died')),
    docmirrorVersion: text('the version that made it'),
    baseUrl: text('the address of the service'),
    labels: { type: 'object', description: 'the labels of the run, by their names' },
    error: orNull(errorShape('what ended it; null if nothing went wrong')),
    resources: list(object(recordedOutcome), 'how each list ended'),
  }),
  'the runs, the newest first',
);

const labelsShape: Shape = { type: 'object', description: 'the labels, by their names' };

const listStatuses = list(
  object({
    resource,
    recordCount: whole('records in the mirror'),
    verdict: text(
      'how the last run left it, in few words: `complete: proven`, `unproven`, `failed: timeout`',
    ),
    lastCompletedAt: orNull(time('when its last completed run ended; null if none has')),
    lastFullAt: orNull(time('when its last completed full sync ended; null if none has')),
    ageMs: orNull(whole('time since `lastCompletedAt`, in milliseconds')),
    endedInFuture: yesOrNo("whether `lastCompletedAt` is in the future, by this machine's clock"),
    unknownFields: list(
      object({
        field: text('its name'),
        jsonType: oneOf(['string', 'number', 'boolean', 'object', 'array', 'null'], 'of its values'),
        firstSeenRunId: whole('the run that first met it'),
        lastSeenRunId: whole('the last run that met it'),
        recordCount: orNull(
          whole('records that had it after the last full sync; null if no full sync has seen it yet'),
        ),
      }),
      'fields that the service sends and that have no column',
    ),
    lastRun: orNull(
      object(
        {
          runId: whole('the number of the run'),
          ...recordedOutcome,
          baseUrl: text('the address of the service'),
        },
        'the newest run that worked on it; null if none has',
      ),
    ),
  }),
  'the lists, in the order of their definition',
);

const newestRun = orNull(
  object(
    {
      runId: whole('its number'),
      status: status('how it ended'),
      startedAt: time('when it began'),
      completedAt: orNull(time('when it ended; null while it goes on, and if its process died')),
      error: orNull(errorShape('what ended it; null if nothing went wrong')),
    },
    'the newest run; null if there was none',
  ),
);

const standing = {
  state: text('the worst state that applies to the mirror, in a word: `ok`, `failed`, `died` and so on'),
  why: text('more about it; empty if there is nothing to say'),
};

const statusShape: Shape = {
  anyOf: [
    object(
      {
        ...standing,
        run: newestRun,
        resources: listStatuses,
        nextRunAt: orNull(time('when `watch` is to start its next run; null if no watch keeps the mirror')),
      },
      'for one mirror',
    ),
    object(
      {
        mirrors: list(
          object({
            database: text('the file'),
            ...standing,
            labels: labelsShape,
            baseUrl: orNull(text('the address of the service; null if it is not known')),
            ageMs: orNull(whole('time since the list that is the oldest was complete, in milliseconds')),
            docmirrorVersion: orNull(text('the version that made the newest run')),
            run: newestRun,
            resources: listStatuses,
          }),
          'the mirrors, the worst first',
        ),
      },
      'for files that are named',
    ),
  ],
};

const manifest = {
  mirrorId: text('which mirror it is of: a UUID'),
  baseUrl: orNull(text('the address of the service; null if no run was recorded')),
  labels: labelsShape,
  runId: whole('the newest run in it; 0 if there is none'),
  rootHash: text('the root hash of all receipts, in hexadecimal digits'),
  recordCounts: { type: 'object', description: 'records, by the name of the list' } as Shape,
  bytes: whole('its size'),
  sha256: hex(64, 'SHA-256 of the file'),
  docmirrorVersion: text('the version that made it'),
  at: time('when it was made'),
};

const show = object({
  resource: resourceOrConnections,
  matchedBy: oneOf(['id', 'reference'], 'by what the records were found'),
  matchCount: whole('records that were found; not all have to be listed'),
  alsoReferenceOf: list(whole('an id'), 'ids of other records that have the id for their reference'),
  records: list(
    object({
      recordId: whole('its id'),
      stands: yesOrNo('whether it is in the mirror now'),
      versionCount: whole('versions that are kept; not all have to be listed'),
      record: orNull({ type: 'object', description: 'what it says now; null if it is gone' }),
      versions: list(
        object(
          {
            fromRunId: whole('the run that wrote the version'),
            fromAt: orNull(time('when; null while that is not recorded')),
            toRunId: orNull(whole('the run that ended it; null if it is current')),
            toAt: orNull(time('when')),
            endedBy: orNull(oneOf(['update', 'removal'], 'what ended it')),
            isFirst: yesOrNo('whether the record was new, or had come back'),
            record: orNull({ type: 'object', description: 'what it said; null if it was erased' }),
            isErased: yesOrNo('true if it was erased; else left out'),
          },
          '',
          ['isErased'],
        ),
        'the newest first',
      ),
    }),
    'the records',
  ),
});

const rejected = object({
  counts: list(
    object({
      resource,
      reason: text('why they could not be read'),
      count: whole('how many'),
      firstRunId: whole('the first run that rejected one'),
      lastRunId: whole('the last one'),
      isCurrent: yesOrNo('whether the newest run of the list still rejected them'),
    }),
    'by list and reason; first those that still are',
  ),
  records: list(
    object({
      id: whole('its number in `rejected_records`'),
      resource,
      runId: whole('the run that first received it'),
      lastRunId: whole('the last run that received it with the same text'),
      pageNo: whole('its page'),
      position: whole('its place on the page, from 0'),
      reason: text('why it could not be read'),
      record: orNull(text('its text as received; null if it was erased, and in a share')),
    }),
    'as many as `--limit` says',
  ),
});

const doctor = object({
  ok: yesOrNo('whether no check failed'),
  exitCode: whole('what `sync` would end with'),
  checks: list(
    object({
      check: text('what was tried'),
      status: oneOf(['ok', 'warning', 'failed', 'skipped'], 'how it went'),
      found: text('what was found'),
      todo: orNull(text('what to do; null if there is nothing to do')),
      code: orNull(text('the code of the error that it met; null if there is none')),
    }),
    'in the order in which a run needs things',
  ),
});

const verifiedCheckpoint = object({
  file: text('the file'),
  size: whole('receipts that it covers'),
  signature: oneOf(
    ['verified', 'forged', 'absent', 'unchecked'],
    'whether the key that is known signed it; `unchecked` if none is known',
  ),
  notes: list(text('a note'), 'what else there is to say'),
});

const verify = object(
  {
    ok: yesOrNo('whether there is no difference and, with `--live`, the service was read completely'),
    path: text('the mirror'),
    lists: list(
      object({
        resource,
        recordCount: whole('its rows'),
        versionCount: whole('its versions in the history'),
        runId: orNull(whole('the last run that wrote it; null if none has')),
        checksum: hex(32, 'recomputed from its rows'),
      }),
      'each list',
    ),
    connectionCount: whole('connections'),
    versionCount: whole('versions in the history'),
    runCount: whole('runs'),
    receiptCount: whole('receipts'),
    prunedBefore: orNull(time('ended versions before this were deleted, so they were not recomputed')),
    rebuiltAfterRunId: orNull(whole('the last run before a rebuild; what came before was not recomputed')),
    erasedCount: whole('texts that were erased'),
    otherObjects: list(
      object({ type: text('`table`, `view` or `index`'), name: text('its name') }),
      'objects that docmirror did not make in the file; they are not a difference',
    ),
    checkpoint: { ...verifiedCheckpoint, description: 'the last one that was named' },
    checkpoints: list(verifiedCheckpoint, 'those that `--checkpoint` names; left out without it'),
    differenceCount: whole('differences'),
    differences: list(
      object({
        table: orNull(text('the table; null if the file itself is damaged')),
        id: orNull(whole('the row; null if it is not one row')),
        what: text('what is wrong'),
        severity: oneOf(['content', 'record of runs', 'shortcut'], 'what it is in'),
      }),
      'as many as `--limit` says',
    ),
    live: orNull(
      object(
        {
          isProven: yesOrNo('whether each list was proven'),
          notes: list(text('a note'), 'what could not be compared'),
          differenceCount: whole('differences'),
          differences: list(
            object({
              kind: oneOf(
                ['missing', 'extra', 'different'],
                'missing from the mirror, not at the service, or in both',
              ),
              resource: resourceOrConnections,
              id: orNull(whole('the row; null if there is none')),
              key: text('what identifies the record'),
              fields: list(
                object({
                  field: text('its name'),
                  mirror: anything('its value in the mirror'),
                  service: anything('its value at the service'),
                }),
                'fields that differ',
              ),
            }),
            'as many as `--limit` says',
          ),
        },
        'what `--live` found; null without it',
      ),
    ),
  },
  '',
  ['checkpoint', 'checkpoints'],
);

const share = object({
  path: text('the file'),
  runId: orNull(whole('the newest run that it contains; null if none has ended')),
  bytes: whole('its size'),
  leftOut: list(text('a view'), "views that can't be read without what the share lacks"),
});

const upgrade = object({
  mirrors: list(
    object({
      database: text('the file, as it was named'),
      state: oneOf(
        ['upgraded', 'current', 'older', 'failed'],
        '`current` has nothing to upgrade; `older` is for `--check`: it has to be upgraded',
      ),
      fromVersion: orNull(
        text('the docmirror that made it or upgraded it last; null if nothing has to be done'),
      ),
      copy: orNull(text('the copy of before; null if none was made')),
      error: orNull(
        object({ code: text('its code'), message: text('what happened') }, 'why it could not be upgraded'),
      ),
    }),
    'in the order in which they were named',
  ),
});

const erase = object({
  resource: oneOf(
    ['document-exports', 'collections', 'webhooks', 'connections', 'rejected-records'],
    'where the record was',
  ),
  recordId: whole('its id'),
  versions: whole('ended versions that lost their text'),
  rejectedRecords: whole('rejected records that lost theirs'),
  isListed: yesOrNo('whether the service still lists the record, so its current version stays'),
  receipt: { ...receiptHead, description: 'the newest receipt; null if there was nothing to erase' },
});

const publishClickhouse = object({
  tenant: text('the tenant'),
  mirrorId: text('which mirror it is'),
  fromRunId: orNull(whole('the first run that was sent; null if all were there')),
  throughRunId: whole('the newest run that ClickHouse has'),
  runs: whole('runs that were sent'),
  rows: whole('rows that were sent'),
  changes: whole('changes that were sent'),
  verified: { type: 'boolean', description: 'true: it was compared with the mirror, and is equal' },
  durationMs: whole('how long it took, in milliseconds'),
});

const listSum = {
  resource: resourceOrConnections,
  recordCount: whole('its rows'),
  checksum: hex(32, 'the sum of the contents of its rows'),
};
const keptSums = list(
  object({
    resource: resourceOrConnections,
    count: whole('versions that are left'),
    sum: hex(32, 'over who wrote them and what they say'),
  }),
  'versions of runs that can no longer be recomputed',
);
const receiptOf = (kind: string, about: string, fields: Readonly<Record<string, Shape>>): Shape =>
  object(
    {
      kind: { type: 'string', const: kind, description: `\`${kind}\`` },
      mirrorId: text('which mirror it is'),
      ...fields,
    },
    about,
  );
const at = time('when');
const actor = text('who did it');

const auditReceipts: Shape = {
  anyOf: [
    receiptOf('run', 'a run', {
      runId: whole('the number of the run'),
      status: oneOf(statuses.slice(1), 'how it ended'),
      trigger: text('what started it'),
      startedAt: time('when it began'),
      completedAt: orNull(time('when it ended; null if it died')),
      actor,
      baseUrl: text('the address of the service'),
      docmirrorVersion: text('the version that made it'),
      books: hex(64, "the SHA-256 over the run's own rows"),
      lists: list(
        object(
          {
            ...listSum,
            changes: hex(64, 'over the changes'),
            ended: hex(64, 'over the versions that it ended'),
            status: oneOf(statuses.slice(1), 'how the list ended; not of connections'),
            completeness: orNull(oneOf(['proven', 'incremental', 'unproven'], 'not of connections')),
            inserted: whole('not of connections'),
            updated: whole('not of connections'),
            removed: whole('not of connections'),
            rejected: whole('not of connections'),
            removalsWithheld: whole('not of connections'),
          },
          '',
          ['status', 'completeness', 'inserted', 'updated', 'removed', 'rejected', 'removalsWithheld'],
        ),
        'its lists, the connections last',
      ),
    }),
    receiptOf('prune', 'ended versions were deleted', {
      at,
      before: time('they had ended before this'),
      kept: keptSums,
    }),
    receiptOf('upgrade', 'the file got another shape', {
      at,
      fromVersion: text('the version before'),
      docmirrorVersion: text('the version after'),
      lists: list(object(listSum), 'what it had'),
      kept: keptSums,
    }),
    receiptOf('rebuild', 'rows that another program altered were dropped', {
      at,
      actor,
      lists: list(object(listSum), 'what was kept'),
      kept: keptSums,
    }),
    receiptOf('erase', 'texts were erased', {
      at,
      actor,
      resource: erase.properties?.resource ?? {},
      recordId: whole('its id'),
      versions: whole('versions that lost their text'),
      ended: list(
        object({
          runId: whole('a run that had ended one'),
          ended: hex(64, 'the `ended` hash of its list from now on'),
        }),
        'for each of these runs',
      ),
    }),
  ],
};

const changes = object(
  {
    runId: whole('the run that made it'),
    changedAt: orNull(time('when the run had written the list')),
    resource: resourceOrConnections,
    recordId: whole('the record'),
    operation: oneOf(['insert', 'update', 'removal'], 'what happened'),
    record: orNull({
      type: 'object',
      description: 'the record after the change or, if it was removed, before it; null if it was erased',
    }),
    before: orNull({ type: 'object', description: 'the record before an update; else null' }),
    isErased: yesOrNo('true if the text was erased; else left out'),
  },
  '',
  ['isErased'],
);

/** The output of a command that fails before it has anything else to say. */
export const failure: Shape = object({ error: errorShape('what went wrong') });

const backup: Shape = {
  anyOf: [
    object(
      {
        path: text('the copy'),
        ...manifest,
        removed: list(text('a file'), 'older copies that were removed'),
      },
      'for a backup that was made',
    ),
    object(
      {
        backups: list(
          object(
            {
              ...manifest,
              path: text('the copy'),
              isNewest: yesOrNo('whether it is the newest of its mirror'),
              isSound: {
                type: ['boolean', 'null'],
                description: 'whether it has its SHA-256; null if it was not looked at',
              },
              ageMs: orNull(whole('time since it was made, in milliseconds')),
              state: orNull(text('`ok`, `too old`, `altered` or `no manifest`; null of older ones')),
            },
            '',
            [
              'labels',
              'runId',
              'rootHash',
              'recordCounts',
              'sha256',
              'docmirrorVersion',
              'mirrorId',
              'baseUrl',
              'bytes',
              'at',
            ],
          ),
          'the copies in the folder',
        ),
      },
      'for `--list`',
    ),
    object(
      {
        path: text('the mirror'),
        runId: whole('the newest run in it; 0 if there is none'),
        bytes: whole('its size'),
        mirrorId: orNull(text('which mirror it is: a UUID')),
        baseUrl: orNull(text('the address of the service')),
        isVerified: yesOrNo('whether it was audited; an older shape can only be looked at'),
      },
      'for `--restore`',
    ),
    { ...verify, description: 'for `--check`, and if a copy is not sound' },
  ],
};

/** An output with the labels, which it has if some are set. */
function labelled(shape: Shape): Shape {
  if (shape.anyOf !== undefined) return { ...shape, anyOf: shape.anyOf.map(labelled) };
  if (shape.properties === undefined || 'labels' in shape.properties) return shape;
  return {
    ...shape,
    properties: {
      labels: { ...labelsShape, description: 'the labels; left out if none are set' },
      ...shape.properties,
    },
  };
}

const outputs: readonly JsonOutput[] = [
  { command: 'sync --json', about: 'How the run ended.', shape: sync },
  { command: 'status --json', about: 'How the lists are.', shape: statusShape },
  { command: 'runs --json', about: 'The newest runs, as an array.', shape: runs },
  { command: 'show --json', about: 'Records with all their versions.', shape: show },
  { command: 'rejected --json', about: 'Records that could not be read.', shape: rejected },
  { command: 'changes --format ndjson', about: 'A change a line.', shape: changes },
  { command: 'doctor --json', about: 'The checks before a run.', shape: doctor },
  { command: 'verify --json', about: 'The result of an audit.', shape: verify },
  {
    command: 'backup --json',
    about: 'The copy that was made, copies that are there, or what was restored.',
    shape: backup,
  },
  { command: 'share --json', about: 'The copy that was made.', shape: share },
  {
    command: 'upgrade --json',
    about:
      'The result for each mirror. If there is only one and it fails, that is the `error` of the command.',
    shape: upgrade,
  },
  { command: 'erase --json', about: 'The texts that were erased.', shape: erase },
  { command: 'publish clickhouse --json', about: 'The rows that were sent.', shape: publishClickhouse },
  {
    command: 'audit receipts --json',
    about: 'A receipt a line, as it is stored. [audit.md](audit.md) says how each hash is made.',
    shape: auditReceipts,
  },
];

/** All outputs, in the order of the page. */
export const jsonOutputs: readonly JsonOutput[] = outputs.map(output => ({
  ...output,
  shape:
    output.command.endsWith('--json') && !output.command.startsWith('audit')
      ? labelled(output.shape)
      : output.shape,
}));
