/** The purpose of a table or view, and the meaning of each of its columns, with an example. */
export interface TableMeaning {
  readonly about: string;
  readonly columns: Readonly<Record<string, readonly [meaning: string, example: string]>>;
}

type Columns = TableMeaning['columns'];

const times: Columns = {
  first_seen_at: ['when the run that first saw the record finished the list', '2026-11-20T22:15:07.118Z'],
  changed_at: ['when the run that wrote this version finished the list', '2026-11-20T23:15:07.502Z'],
};

const provenance: Columns = {
  _first_seen_run_id: ['the run that first saw the record, since it was last removed', '1'],
  _changed_run_id: ['the run that wrote this version of it', '7'],
  _extra: [
    'JSON of fields that have no column, or a value that does not fit their column; numbers by their value (`10.50` is `10.5`); null if there are none',
    '{"pages":12}',
  ],
};

const content: Columns = {
  _content: [
    '16-byte hash of the record (docs/audit.md); null in a share if a guess could be checked by it',
    "x'5f0c…'",
  ],
};

const documentExport: Columns = {
  id: ["docmirror's own number of the record; it stays until the record is removed", '4105'],
  source_connection_id: ['where the document came from', '12'],
  source_document_title: ["the document's title at its source", 'Purchase order 11985'],
  source_document_reference: ["the document's reference at its source", '4591282847'],
  source_document_version: ["the document's version at its source", '2'],
  source_document_kind: ['the kind of document, as the service calls it', 'purchase-order'],
  destination_connection_id: ['where the document went', '103'],
  destination_reference: ['where it is at its destination', 's3://archive/2026/08/31ad.pdf'],
  exported_at: [
    'when it was exported, as the service sent it first: if it writes the same instant otherwise, the text stays',
    '2026-08-26T09:11:58.563Z',
  ],
  exported_at_ms: ['the same time in milliseconds since 1970; null if the text is no time', '1787735518563'],
};

const utc: Columns = {
  exported_at_utc: [
    'the same time in UTC to the second, as every tool reads it; null if the text is no time',
    '2026-08-26 09:11:58',
  ],
};

const names: Columns = {
  source_connection_name: ['the name of the source connection now', 'SAP S/4HANA'],
  destination_connection_name: ['the name of the destination connection now', 'Archive (S3)'],
};

const removal: Columns = {
  removed_run_id: ['the run that removed it; null while the service lists it', '12'],
  removed_at: ['when that run finished the list', '2026-11-25T22:15:07.118Z'],
};

const webhookArrays: Columns = {
  events: [
    'JSON array of its events, in order; `[]` also if `_extra` has them: as null if the service sent null or none, complete if one of them fits no column',
    '["document.exported"]',
  ],
  connection_ids: [
    'JSON array of the ids of its connections, in order; `[]` also if the service sent null or none: then `_extra` has them as null',
    '[12,103]',
  ],
  connection_names: ['JSON array of their names, in the same order', '["SAP S/4HANA","Archive (S3)"]'],
};

const collection: Columns = {
  id: ["the service's number of the collection", '31'],
  name: ['its name', 'Invoices 2026'],
  source_connection_id: ['where its documents come from', '12'],
  destination_connection_id: ['where its documents go', '103'],
};

const webhook: Columns = {
  id: ["the service's number of the webhook", '25'],
  endpoint: ['the address that is called; it can contain secrets', 'https://hooks.example.com/hr?key=…'],
  description: ['what it is for', 'Finance channel'],
};

const resource = (what: string): Columns[string] => [`the list that ${what}`, 'document-exports'];

/** All tables and views of the file; a column that is missing here fails a test. */
export const tableMeanings: Readonly<Record<string, TableMeaning>> = {
  connections: {
    about: 'The connections that anything in the lists refers to, one row each.',
    columns: {
      id: ["the service's number of the connection", '12'],
      name: [
        'its name: from collections, else from webhooks, else from the newest export; it stays until the service gives another',
        'SAP S/4HANA',
      ],
      ...provenance,
      ...content,
    },
  },
  document_exports: {
    about: 'The records that the service lists at `/v2/document-exports` now, one row each.',
    columns: {
      ...documentExport,
      ...provenance,
      ...content,
    },
  },
  collections: {
    about: 'The records that the service lists at `/v2/collections` now, one row each.',
    columns: { ...collection, ...provenance, ...content },
  },
  webhooks: {
    about: 'The records that the service lists at `/v2/webhooks` now, one row each.',
    columns: { ...webhook, ...provenance, ...content },
  },
  webhook_events: {
    about:
      'The events of each webhook: a set. Their order is no content; the row keeps the one in which the service sent them first.',
    columns: {
      webhook_id: ['the webhook', '25'],
      position: ['its place among the events, from 0', '0'],
      event: ['the event', 'document.exported'],
    },
  },
  webhook_connections: {
    about:
      'The connections of each webhook: a set. Their order is no content; the row keeps the one in which the service sent them first.',
    columns: {
      webhook_id: ['the webhook', '25'],
      position: ['its place among the connections, from 0', '0'],
      connection_id: ['the connection; null if the service sent null', '12'],
    },
  },
  sync_runs: {
    about: 'Every run that was ever made.',
    columns: {
      id: ["the run's number, in the order of time", '7'],
      status: [
        '`running`, `completed`, `partial`, `failed`, `cancelled`, or `interrupted` if its process died',
        'completed',
      ],
      trigger: ['`manual`, `schedule` for the runs of `watch`, or what `DOCMIRROR_TRIGGER` said', 'schedule'],
      started_at: ['when it began', '2026-11-20T23:15:04.120Z'],
      completed_at: [
        'when it ended; null while it goes on, and if its process died',
        '2026-11-20T23:15:09.871Z',
      ],
      error_code: ['the code of the error, for programs; null if there was none', 'overloaded'],
      error_message: ['the message of the error, for people', 'GET … answered 503'],
      docmirror_version: ['the version of docmirror that made it', '0.5.0'],
      base_url: ['the service that was asked', 'https://service.example'],
      _actor: ['who ran it, as its receipt says', 'ops'],
      labels: ['JSON of `DOCMIRROR_LABELS`; null if it was not set', '{"tenant":"acme"}'],
      query: ['what `DOCMIRROR_QUERY` added to each request; null if it was not set', 'includeArchived=true'],
    },
  },
  sync_run_resources: {
    about: 'How each list of each run ended.',
    columns: {
      run_id: ['the run', '7'],
      resource: resource('was worked on'),
      status: ['as in `sync_runs`, for this list alone', 'completed'],
      mode: ['`full` or `incremental`; null if nothing was read', 'full'],
      completeness: ['`proven`, `incremental` or `unproven`, as proof.md says', 'proven'],
      first_page_no: ['the number of the first page, as found out', '1'],
      page_size: ['records a page, as found out', '500'],
      page_count: ['pages, as the service stated', '3'],
      total_record_count: ['records, as the service stated', '1203'],
      records_seen: ['records that the run saw, each once', '1203'],
      inserted: ['records that were new', '3'],
      updated: ['records that had changed', '0'],
      removed: ['records that were gone, and were removed', '1'],
      unchanged: ['records that were as before', '1200'],
      rejected: ['records that could not be read; they are in `rejected_records`', '0'],
      removals_withheld: ['records that were gone, and were kept', '0'],
      undecided: ['records that might be gone', '0'],
      walks: ['how many readings were begun', '1'],
      requests: ['requests that were sent', '6'],
      retries: ['how many of them were further tries', '0'],
      bytes: ['bytes that were received', '401234'],
      waited_ms: ['milliseconds of waiting, because the service failed or asked for it', '0'],
      started_at: ['when the run began with this list', '2026-11-20T23:15:04.130Z'],
      completed_at: ['when it finished the list; null while it goes on', '2026-11-20T23:15:07.502Z'],
      error: [
        'JSON of the two columns after this; null if there was no error',
        '{"code":"timeout","message":"…"}',
      ],
      error_code: ['the code of the error, for programs', 'timeout'],
      error_message: ['the message of the error, for people', 'GET … did not answer in time'],
      reason: ['why completeness is not proven, or why removals were withheld', 'two readings differ'],
      record_count: ['records in the mirror after the run; null while the run goes on', '1205'],
      checksum: [
        "32 hexadecimal digits: the sum of the contents of the list's rows after the run, as in its receipt; null while the run goes on",
        'bb1f0ed1…',
      ],
      ignored_fields: [
        'JSON array of the fields, in order, that the contents of the records that this run wrote leave out (`DOCMIRROR_IGNORE_FIELDS`); null if there are none',
        '["downloadUrl"]',
      ],
      read_since: [
        'the moment of the oldest answer in use: what is proven is so as of then; null if the list was not written',
        '2026-11-20T22:15:01.004Z',
      ],
      reasons: [
        'JSON array of what the run found out about the list: objects with a `code` and its facts, as in troubleshooting.md; null in runs before 0.6, and until the list has ended',
        '[{"code":"record_rejected","count":2}]',
      ],
      retry_after_until: [
        'until then the service wanted no requests, which ended the list; null if it did not',
        '2026-11-21T01:00:00.000Z',
      ],
    },
  },
  accepted_findings: {
    about:
      'Findings that a person has accepted (`docmirror accept`). A row stays, and receipts say the same.',
    columns: {
      id: ['its number', '1'],
      resource: ['the list', "'webhooks'"],
      code: ['the finding', "'pages_short'"],
      rejected_record_id: ['the one rejected record that it is about', '7'],
      at_most: ['the greatest count that it covers', '3'],
      until: ['the end of it', "'2027-01-31T00:00:00.000Z'"],
      why: ['the reason; null in a share', "'seen'"],
      actor: ['who accepted it', "'ann'"],
      accepted_at: ['when', "'2026-11-29T08:00:00.000Z'"],
      withdrawn_at: ['when it was withdrawn', 'null'],
      withdrawn_by: ['by whom', 'null'],
      withdrawn_why: ['and why; null in a share', 'null'],
    },
  },
  service_facts: {
    about:
      'What the specification of the service does not show, as runs have seen it. A fact that no run sees again stays.',
    columns: {
      resource: ['a list, `connections`, or `service` for what is of no list', "'webhooks'"],
      fact: ['its name', "'page_size'"],
      value: ['JSON, also of a number or a text', '200'],
      previous_value: ['the value before; null if it never changed', '500'],
      changed_run_id: ['the run in which it changed', '9'],
      first_seen_run_id: ['the run that first saw it', '1'],
      last_seen_run_id: ['the last run that saw it', '9'],
      evidence: ['JSON: what it rests on, in numbers', '{"answers":51}'],
    },
  },
  rejected_records: {
    about: 'Records that could not be read, kept as they were received.',
    columns: {
      id: ['a number of its own', '1'],
      run_id: ['the run that first received it', '7'],
      last_run_id: ['the last of the runs that received it, also with another text', '9'],
      resource: resource('it was to be in'),
      page_no: ['the page that it was on', '2'],
      position: ['where on the page, from 0', '17'],
      reason: ['why it could not be read', 'id must be integer'],
      record: ['its JSON; null if it was erased, and in a share', '{"id":"x"}'],
      content: [
        '16 bytes: the first of the SHA-256 of its text, also if it was erased; null in a share',
        "x'5f0c…'",
      ],
      identity: ['16 bytes: a hash of its identity, or else of its place; null in a share', "x'a1b2…'"],
    },
  },
  unknown_fields: {
    about:
      'Fields that the service sends and that have no column, a row for each JSON type of their values. The values are in `_extra`. A member of the answers beside `items` and `pagination` is here, too; its values are not kept, so its count is 0.',
    columns: {
      resource: resource('the field was seen in'),
      field: ['its name', 'language'],
      json_type: ['`string`, `number`, `boolean`, `object`, `array` or `null`', 'string'],
      first_seen_run_id: ['the run that first saw it', '7'],
      last_seen_run_id: [
        'the last run that saw it: a full sync, or an incremental one that wrote a record with it',
        '9',
      ],
      record_count: [
        'records in the mirror that had it after the last full sync, 0 if none had it any more; null if no full sync has seen it yet',
        '1203',
      ],
    },
  },
  sync_receipts: {
    about:
      'The receipts: what each run stated when it ended. SQL refuses to change or delete a receipt. docs/audit.md explains how they are checked.',
    columns: {
      leaf_index: ['its place in the log, from 0, without gaps', '0'],
      run_id: ['the run; null if the receipt is not about a run', '7'],
      receipt: [
        'canonical JSON (RFC 8785); in a share, its hashes and the reason of an acceptance are null',
        '{"actor":"ops",…}',
      ],
      leaf_hash: [
        '64 hexadecimal digits: the SHA-256 over a zero byte and the receipt; in a share, a hash of it with the key of the mirror',
        'ea5390c4…',
      ],
    },
  },
  record_history: {
    about: 'Each version of a record that has ended. The current version is the row itself, and is not here.',
    columns: {
      id: ['a number of its own', '1'],
      resource: resource('it was in, or `connections`'),
      record_id: ["the record's `id`", '4105'],
      first_seen_run_id: ['the run that first saw the record, since it was last removed before', '1'],
      valid_from_run_id: ['the run that wrote the version', '3'],
      valid_to_run_id: ['the run that ended it', '7'],
      ended_by: ['`update` or `removal`', 'update'],
      record: [
        "the version, as JSON in the service's own shape; null if it was erased",
        '{"id":31,"name":"Invoices"}',
      ],
      content: [
        '16-byte hash of the version, also if it was erased; null in a share if a guess could be checked by it',
        "x'5f0c…'",
      ],
      exported_at_ms: [
        'for an export that was removed: its time in milliseconds since 1970; else null',
        '1787735518563',
      ],
      source_document_reference: [
        "for an export that was removed: the document's reference; else null",
        '4591282847',
      ],
      returned_run_id: [
        'for a record that was removed: the run in which it came back; null if it did not',
        '9',
      ],
    },
  },
  document_exports_named: {
    about: 'Document exports with the names of their connections beside the ids. Most questions begin here.',
    columns: { ...documentExport, ...utc, ...names, ...times, ...provenance },
  },
  collections_named: {
    about: 'Collections with the names of their connections beside the ids.',
    columns: { ...collection, ...names, ...times, ...provenance },
  },
  webhooks_named: {
    about: 'Webhooks with their events and connections in one row.',
    columns: {
      ...webhook,
      ...webhookArrays,
      ...times,
      ...provenance,
    },
  },
  document_exports_ever: {
    about:
      'Every export that ever stood in the mirror, in its last text, as far as the history is kept. An export that came back is listed once. If one run had two equal exports, both stay. What was erased is null.',
    columns: { ...documentExport, ...utc, ...names, ...times, ...provenance, ...removal },
  },
  collections_ever: {
    about: 'Every collection that ever stood in the mirror, in the same way.',
    columns: { ...collection, ...names, ...times, ...provenance, ...removal },
  },
  webhooks_ever: {
    about: 'Every webhook that ever stood in the mirror, in the same way.',
    columns: { ...webhook, ...webhookArrays, ...times, ...provenance, ...removal },
  },
  latest_versions: {
    about:
      'The newest export of each document. Exports with the same source connection and the same reference are one document. An export without a reference is a document of its own. The newest is the one with the greatest `exported_at_ms`, then with the greatest `id`.',
    columns: { ...documentExport, ...utc, ...names, ...times, ...provenance },
  },
  changes: {
    about:
      'The changes of each run: inserts, updates and removals. It has only runs that have ended. If you keep the greatest `run_id` and ask for later ones, you miss nothing.',
    columns: {
      run_id: ['the run that made the change', '7'],
      changed_at: ['when that run finished the list', '2026-11-20T23:15:07.502Z'],
      resource: resource('changed, or `connections`, which are inserted, renamed (`update`) and removed'),
      record_id: ["the record's `id`", '4105'],
      operation: ['`insert`, `update` or `removal`', 'update'],
      record: [
        "the record after the change, or before its removal, as JSON in the service's own shape. Its connections have the names of that run, or the oldest names that are kept. Null if the version was erased",
        '{"id":31,"name":"Invoices 2026"}',
      ],
      before: [
        'the record before an update, as JSON; null for inserts and removals, and if the version before was erased, or deleted by `--keep-history`',
        '{"id":31,"name":"Invoices"}',
      ],
      changed_fields: [
        'JSON array of the names of the fields in which `record` and `before` differ; null if `before` is',
        '["name"]',
      ],
    },
  },
  sync_status: {
    about: 'The state of each list that runs ask for, one row a list.',
    columns: {
      resource: resource('this row is about'),
      record_count: ['records in the mirror now', '1205'],
      last_completed_run_id: ['the last run that completed the list; null if none has', '7'],
      last_completed_at: ['when that was', '2026-11-20T23:15:07.502Z'],
      read_since: [
        'the moment of the oldest answer of that run: what it says is so as of then',
        '2026-11-20T23:15:01.004Z',
      ],
      age_seconds: ['how long ago that is', '312'],
      last_full_at: ['the same of the last full sync that completed', '2026-11-20T22:15:07.118Z'],
      last_run_id: ['the last run that worked on the list and has ended, however it ended', '8'],
      last_run_status: ['how it ended', 'partial'],
      completeness: [
        'whether that run could prove that the list is complete, as in `sync_run_resources`',
        'unproven',
      ],
      verdict: ['all of this in words', 'complete: proven'],
      reason_codes: [
        'the codes in `reasons` of that run, separated by a space; null if there are none',
        'page_failed record_rejected',
      ],
      is_running: [
        '1 while a run goes on, and after its process has died, until the next run; 0 otherwise',
        '0',
      ],
    },
  },
  _mirror: {
    about: 'Which mirror this is, one row.',
    columns: {
      mirror_id: [
        'a UUID that was made with the file; a copy keeps it',
        '0198c0de-5a11-7e57-8000-00c0ffee0042',
      ],
      share_key: [
        '32 random bytes: the key of the hashes by which shares and cursors know receipts',
        "x'9b1e…'",
      ],
    },
  },
  _connection_names: {
    about:
      'The name that each list gives to each connection that it mentions. `connections` has the name that counts.',
    columns: {
      resource: resource('mentions the connection'),
      connection_id: ['the connection', '12'],
      name: ['its name in that list; null if the list gives none', 'SAP S/4HANA'],
      _extra: ['JSON of its further fields in that list, or null', '{"region":"eu"}'],
      named_at: [
        'the time of the record that gave the name; null in lists without a time',
        '2026-08-26T09:11:58Z',
      ],
    },
  },
  _list_states: {
    about: 'Facts that a run found out about each list, to save the next run work.',
    columns: {
      resource: resource('this row is about'),
      run_id: ['the run that wrote it', '7'],
      state: ['JSON of what it learnt', '{…}'],
      check: ['16-byte hash of the row; a row whose hash does not match is ignored', "x'11f0…'"],
    },
  },
  _known_pages: {
    about: 'The pages of the last proven full sync. What comes again as it was is not parsed.',
    columns: {
      resource: resource('this row is about'),
      digest: ['16-byte hash of its items', "x'8a01…'"],
      run_id: ['the run that saw it', '7'],
      rows: ['JSON of the ids of its rows', '[[1, 100]]'],
      said: ['what its items say of connections, in two bytes each', "x'0100…'"],
      pieces: ['hashes of neighbouring items, and their counts', "x'c3d2…'"],
      check: ['as in `_list_states`', "x'11f0…'"],
    },
  },
};
