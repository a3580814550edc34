// Reads a share in loops, as a program of somebody else does: node share-reader.mjs MODULE DRIVER PATH [hold]
//
// The lists of its mirror say the same in each run, so a share in which they differ holds half a run. It ends at the first
// thing that is wrong, and tells it; otherwise when its standard input ends, with how many shares it saw.
import { createRequire } from 'node:module';
import { DatabaseSync } from 'node:sqlite';

const [module, driver, path, hold] = process.argv.slice(2);
const Database = createRequire(module)('better-sqlite3');
const open = {
  'better-sqlite3': () => new Database(path),
  'better-sqlite3, readonly': () => new Database(path, { readonly: true }),
  'node:sqlite': () => new DatabaseSync(path),
  'node:sqlite, readOnly': () => new DatabaseSync(path, { readOnly: true }),
}[driver];

const saidByLists = `
  SELECT name AS said FROM collections
  UNION SELECT description FROM webhooks
  UNION SELECT source_document_title FROM document_exports WHERE source_document_reference = 'DOC-1'`;
const openRuns = "SELECT count(*) AS n FROM sync_runs WHERE status = 'running'";
const newestRun = 'SELECT max(id) AS id FROM sync_runs';
const rowsOfNoRun = `SELECT count(*) AS n FROM (
    SELECT _changed_run_id AS id FROM document_exports UNION ALL SELECT _changed_run_id FROM collections
    UNION ALL SELECT _changed_run_id FROM webhooks UNION ALL SELECT valid_to_run_id FROM record_history)
  WHERE id NOT IN (SELECT id FROM sync_runs)`;
const counts = `SELECT count(*) AS n FROM sync_status s JOIN sync_run_resources r
  ON r.run_id = s.last_run_id AND r.resource = s.resource WHERE r.record_count <> s.record_count`;

const seen = new Set();
let newest = 0;
let isOver = false;
process.stdin.on('end', () => (isOver = true)).resume();

function look() {
  const database = open();
  const one = sql => database.prepare(sql).all();
  const said = one(saidByLists);
  if (said.length !== 1) throw new Error(`half a run: ${JSON.stringify(said)}`);
  for (const sql of [openRuns, rowsOfNoRun, counts])
    if (one(sql)[0].n !== 0) throw new Error(`what no ended run left: ${sql}`);
  const { id } = one(newestRun)[0];
  if (id < newest) throw new Error(`run ${id} after run ${newest}`);
  newest = id;
  seen.add(id);
  database.close();
}

/** One cursor that goes on over all that happens to the file's name. */
function* holdOpen() {
  const database = open();
  const [{ id }] = database.prepare(newestRun).all();
  const [{ n }] = database.prepare('SELECT count(*) AS n FROM document_exports').all();
  let rows = 0;
  for (const row of database.prepare('SELECT * FROM document_exports').iterate()) {
    if (row._changed_run_id > id) throw new Error('a row of a later share');
    rows++;
    if (rows < n / 2) yield;
  }
  if (rows !== n) throw new Error(`${rows} rows of ${n}`);
  seen.add(id);
}

const held = hold === undefined ? null : holdOpen();
held?.next();
process.stdout.write('begun\n');
const timer = setInterval(() => {
  try {
    if (held === null) look();
    if (!isOver) return;
    if (held !== null) for (const _ of held);
    clearInterval(timer);
    process.stdout.write(`${JSON.stringify({ seen: seen.size, newest })}\n`);
  } catch (error) {
    clearInterval(timer);
    process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`);
    process.exit(1);
  }
}, 100);
