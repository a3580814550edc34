import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ClickHouse, type ClickHouseOptions } from '../../src/publish/clickhouse.ts';
import { ddlStatements } from '../../src/publish/tables.ts';

const serverPath = fileURLToPath(new URL('./server.ts', import.meta.url));

/** A real engine behind an HTTP port, in a process of its own. */
export class Engine implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'docmirror-clickhouse-'));
  readonly #password: string;
  #child: ChildProcess | undefined;
  #port = 0;
  #databases = 0;

  static async start(password = ''): Promise<Engine> {
    const engine = new Engine(password);
    await engine.start();
    return engine;
  }

  private constructor(password: string) {
    this.#password = password;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Starts it, after a kill on the same data; its port is another one then. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [serverPath, this.#folder, this.#password], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    let said = '';
    child.stderr.on('data', chunk => {
      said += chunk;
    });
    const ended = once(child, 'exit').then(() => {
      throw new Error(
        `ClickHouse's engine did not start. Install it with "npm ci" in test/clickhouse.\n${said}`,
      );
    });
    const [port] = await Promise.race([once(child.stdout, 'data'), ended]);
    this.#port = Number(port);
    ended.catch(() => undefined);
  }

  /** Kills it, whatever it is doing. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** A client; the database need not be there. */
  client(database: string, options: Partial<ClickHouseOptions> = {}): ClickHouse {
    return new ClickHouse({
      url: this.url,
      user: 'default',
      password: this.#password,
      database,
      timeoutMs: 20_000,
      giveUpAfterMs: 0,
      proxy: null,
      signal: new AbortController().signal,
      ...options,
    });
  }

  /** A database of a test's own, with docmirror's tables. */
  async database(): Promise<string> {
    const name = `test_${++this.#databases}`;
    const client = this.client('default');
    try {
      for (const statement of ddlStatements(name)) await client.command(statement);
    } finally {
      await client.close();
    }
    return name;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
