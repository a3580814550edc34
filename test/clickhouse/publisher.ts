import { ClickHouse } from '../../src/publish/clickhouse.ts';
import { publish } from '../../src/publish/publish.ts';
import { randomMirror } from './model.ts';

// A publication in a process of its own, to be killed. Usage: node publisher.ts URL DATABASE SEED RUNS ROWS

const [url = '', database = '', seed, runs, rows] = process.argv.slice(2);
const { signal } = new AbortController();
const target = new ClickHouse({
  url,
  database,
  user: 'default',
  password: '',
  timeoutMs: 20_000,
  giveUpAfterMs: 0,
  proxy: null,
  signal,
});
const mirror = randomMirror(Number(seed), Number(runs), Number(rows));
process.stdout.write('ready\n');
await publish(mirror.open, target, {
  tenant: 'acme',
  again: false,
  replaceTenant: false,
  clock: () => new Date(),
  signal,
  onProgress: () => undefined,
});
await target.close();
