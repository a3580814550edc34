// Recomputes the receipts of a mirror by docs/audit.md and the file alone: nothing of docmirror is imported.
import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';

const file = new DatabaseSync(process.argv[2], { readOnly: true });
const rows = (sql, ...values) => file.prepare(sql).all(...values);
const sha256 = bytes => createHash('sha256').update(bytes).digest('hex');
const hex = bytes => Buffer.from(bytes).toString('hex');

const tables = {
  'document-exports': 'document_exports',
  collections: 'collections',
  webhooks: 'webhooks',
  connections: 'connections',
};

function canonical(value) {
  if (value instanceof Uint8Array) return JSON.stringify(hex(value));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const names = Object.keys(value).sort();
  return `{${names.map(name => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
}

const withoutNulls = object =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
const sumOf = contents => {
  const total = contents.reduce((sum, content) => sum + BigInt(`0x${content}`), 0n) % 2n ** 128n;
  return total.toString(16).padStart(32, '0');
};

const checked = {};
const wrong = [];
function check(what, where, found, said) {
  checked[what] = (checked[what] ?? 0) + 1;
  if (found !== said) wrong.push(`${what} of ${where}`);
}

// The log: each leaf's hash, and the root.
const log = rows('SELECT leaf_index, run_id, receipt, leaf_hash FROM sync_receipts ORDER BY leaf_index').map(
  ({ receipt, ...row }) => ({ ...row, text: receipt, receipt: JSON.parse(receipt) }),
);
const leaves = log.map(({ text }) => createHash('sha256').update('\0').update(text).digest());
log.forEach(({ leaf_index, leaf_hash, text, receipt }, at) => {
  check('place', `receipt ${at}`, leaf_index, at);
  check('leaf', `receipt ${at}`, hex(leaves[at]), leaf_hash);
  check('form', `receipt ${at}`, canonical(receipt), text);
});
function rootOf(hashes) {
  if (hashes.length === 1) return hashes[0];
  const half = 2 ** Math.ceil(Math.log2(hashes.length) - 1);
  const halves = [rootOf(hashes.slice(0, half)), rootOf(hashes.slice(half))];
  return createHash('sha256').update('\x01').update(halves[0]).update(halves[1]).digest();
}

// The records: contents from the columns, and their sum.
const reference = id => (id === null ? null : { id });
const arrayOf = (table, column, id) =>
  rows(`SELECT ${column} AS value FROM ${table} WHERE webhook_id = ? ORDER BY position`, id).map(
    ({ value }) => value,
  );
const recordOf = {
  'document-exports': row => ({
    sourceConnection: reference(row.source_connection_id),
    sourceDocumentTitle: row.source_document_title,
    sourceDocumentReference: row.source_document_reference,
    sourceDocumentVersion: row.source_document_version,
    sourceDocumentKind: row.source_document_kind,
    destinationConnection: reference(row.destination_connection_id),
    destinationReference: row.destination_reference,
    exportedAt: row.exported_at,
  }),
  collections: row => ({
    id: row.id,
    name: row.name,
    sourceConnection: reference(row.source_connection_id),
    destinationConnection: reference(row.destination_connection_id),
  }),
  webhooks: row => ({
    id: row.id,
    endpoint: row.endpoint,
    description: row.description,
    events: arrayOf('webhook_events', 'event', row.id),
    connections: arrayOf('webhook_connections', 'connection_id', row.id).map(reference),
  }),
  connections: row => ({ id: row.id, name: row.name }),
};
for (const [resource, table] of Object.entries(tables)) {
  const contents = rows(`SELECT * FROM ${table}`).map(row => {
    const record = { ...recordOf[resource](row), ...JSON.parse(row._extra ?? '{}') };
    return sha256(canonical(withoutNulls(record))).slice(0, 32);
  });
  const states = log.flatMap(({ receipt }) =>
    (receipt.lists ?? []).filter(list => list.resource === resource),
  );
  check('checksum', resource, sumOf(contents), states.at(-1)?.checksum);
  check('recordCount', resource, contents.length, states.at(-1)?.recordCount);
}

// How far back rows and history go.
const lastRunBefore = leafIndex =>
  Math.max(
    0,
    ...log
      .filter(({ leaf_index, run_id }) => leaf_index < leafIndex && run_id !== null)
      .map(({ run_id }) => run_id),
  );
const newestOf = (...kinds) => log.findLast(({ receipt }) => kinds.includes(receipt.kind));
const after = leaf => (leaf === undefined ? 0 : lastRunBefore(leaf.leaf_index));
const runs = rows('SELECT id, started_at, completed_at FROM sync_runs ORDER BY id');
function prunedThrough() {
  const prune = newestOf('prune');
  if (prune === undefined) return 0;
  const endOf = (run, at) => run.completed_at ?? runs[at + 1]?.started_at ?? run.started_at;
  const first = runs.find((run, at) => endOf(run, at) > prune.receipt.before);
  return Math.min(first === undefined ? Infinity : first.id - 1, lastRunBefore(prune.leaf_index));
}
const [rebuilt, upgraded, pruned] = [after(newestOf('rebuild')), after(newestOf('upgrade')), prunedThrough()];
const knownAfter = Math.max(rebuilt, upgraded, pruned);

// The runs: books, changes and ended.
function booksOf(run) {
  const own = [
    ['sync_runs', 'id = ?'],
    ['sync_run_resources', 'run_id = ? ORDER BY resource'],
    ['rejected_records', 'run_id = ? ORDER BY id'],
  ];
  return own.flatMap(([table, where]) =>
    rows(`SELECT * FROM ${table} WHERE ${where}`, run).map(row => {
      for (const generated of table === 'sync_run_resources' ? ['error'] : []) delete row[generated];
      for (const left of table === 'rejected_records' ? ['last_run_id', 'record'] : []) delete row[left];
      return `${table}\t${canonical(withoutNulls(row))}\n`;
    }),
  );
}
function changesOf(run, resource) {
  const ofRows = rows(
    `SELECT id, _content AS content, _first_seen_run_id AS first FROM ${tables[resource]} WHERE _changed_run_id = ?`,
    run,
  );
  const history = (column, more = '') =>
    rows(
      `SELECT record_id AS id, content, first_seen_run_id AS first FROM record_history WHERE resource = ? AND ${column} = ? ${more}`,
      resource,
      run,
    );
  const begun = [...ofRows, ...history('valid_from_run_id')];
  const changes = [
    ...begun.map(row => ({ ...row, operation: row.first === run ? 'insert' : 'update' })),
    ...history('valid_to_run_id', "AND ended_by = 'removal'").map(row => ({ ...row, operation: 'removal' })),
  ];
  changes.sort((a, b) => (a.operation === b.operation ? a.id - b.id : a.operation < b.operation ? -1 : 1));
  return changes.map(({ operation, id, content }) => `${operation}\t${id}\t${hex(content)}\n`);
}
function endedOf(run, resource) {
  return rows(
    `SELECT first_seen_run_id, valid_from_run_id, record_id, ended_by, record FROM record_history
     WHERE resource = ? AND valid_to_run_id = ? ORDER BY record_id, id`,
    resource,
    run,
  ).map(row => `${canonical(withoutNulls(row))}\n`);
}
const erased = new Map();
for (const { receipt } of log)
  if (receipt.kind === 'erase')
    for (const { runId, ended } of receipt.ended) erased.set(`${receipt.resource} ${runId}`, ended);
for (const { receipt } of log.filter(({ receipt }) => receipt.kind === 'run')) {
  check('books', `run ${receipt.runId}`, sha256(booksOf(receipt.runId).join('')), receipt.books);
  if (receipt.runId <= knownAfter) continue;
  for (const resource of Object.keys(tables)) {
    const said = receipt.lists.find(list => list.resource === resource);
    const where = `run ${receipt.runId} in ${resource}`;
    const changes = changesOf(receipt.runId, resource);
    if (changes.length === 0 && said === undefined) continue;
    check('changes', where, sha256(changes.join('')), said?.changes);
    const ended = erased.get(`${resource} ${receipt.runId}`) ?? said?.ended;
    check('ended', where, sha256(endedOf(receipt.runId, resource).join('')), ended);
  }
}

// Which of the runs before an upgrade or a rebuild wrote what is left, and how versions had ended by then.
const { kept = [], kind } = newestOf('prune', 'upgrade', 'rebuild')?.receipt ?? {};
const settled = Math.max(rebuilt, upgraded);
for (const { resource, count, sum } of kind === 'prune' ? [] : kept) {
  const versions = [
    ...rows(
      `SELECT id, _first_seen_run_id AS first, _changed_run_id AS began, _content AS content FROM ${tables[resource]}
       WHERE _changed_run_id <= ?`,
      settled,
    ),
    ...rows(
      `SELECT record_id AS id, first_seen_run_id AS first, valid_from_run_id AS began, content, valid_to_run_id AS ended, ended_by AS how
       FROM record_history WHERE resource = ? AND valid_from_run_id <= ?`,
      resource,
      settled,
    ),
  ].map(({ id, first, began, content, ended, how }) => {
    const end = ended <= settled ? ` ${ended} ${how}` : '';
    return sha256(`${id} ${first} ${began} ${hex(content)}${end}`).slice(0, 32);
  });
  check('kept', resource, `${versions.length} ${sumOf(versions)}`, `${count} ${sum}`);
}

process.stdout.write(JSON.stringify({ checked, wrong, root: hex(rootOf(leaves)), knownAfter }));
