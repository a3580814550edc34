import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ServiceSettings } from './service.ts';

// Services in the languages of Debian's packages. Each is one file, which gets its settings and its port in ZOO_SETTINGS.

interface DebianService {
  readonly file: string;
  /** Debian's packages that it needs. */
  readonly packages: readonly string[];
}

const php = ['php-cli', 'php-pgsql'];
export const debianServices: Readonly<Record<string, DebianService>> = {
  django: { file: 'django_service.py', packages: ['python3-djangorestframework', 'python3-psycopg2'] },
  flask: { file: 'flask_service.py', packages: ['python3-flask-sqlalchemy', 'python3-psycopg2'] },
  kaminari: {
    file: 'kaminari.rb',
    packages: ['ruby-kaminari-activerecord', 'ruby-activerecord', 'ruby-pg', 'ruby-webrick'],
  },
  laravel: {
    file: 'laravel.php',
    packages: ['php-illuminate-database', 'php-illuminate-pagination', ...php],
  },
  doctrine: { file: 'doctrine.php', packages: ['php-doctrine-orm', 'php-symfony-cache', ...php] },
};

/** All packages, for `apt-get install`. */
export const debianPackages: readonly string[] = [
  ...new Set(Object.values(debianServices).flatMap(({ packages }) => packages)),
];

/** Why the services can't be played here; null if they can. */
export function whyNoDebian(): string | null {
  const { status, error } = spawnSync('dpkg-query', ['--show', ...debianPackages], { stdio: 'ignore' });
  if (error !== undefined) return 'Debian is needed';
  return status === 0 ? null : `Debian's packages are needed: sh test/zoo/debian.sh`;
}

/** The wait for a service to answer, in milliseconds. */
const answersWithinMs = 20_000;
const tryAgainMs = 100;

/** Starts a service. Returns its address, and what ends it. */
export async function startDebianService({ file }: DebianService, settings: ServiceSettings) {
  const port = await freePort();
  const path = fileURLToPath(new URL(`./services/${file}`, import.meta.url));
  const [program = '', ...args] = {
    py: ['/usr/bin/python3', '-B', path],
    rb: ['ruby', path],
    php: ['php', '-S', `127.0.0.1:${port}`, path],
  }[file.split('.').at(-1) as 'py' | 'rb' | 'php'];
  const env = {
    PATH: process.env.PATH,
    LANG: 'C.UTF-8',
    // PHP answers one request at a time, if it is not told otherwise.
    PHP_CLI_SERVER_WORKERS: '4',
    ZOO_SETTINGS: JSON.stringify({ ...settings, port }),
  };
  // A group of its own: PHP's workers end with it.
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const ended = once(child, 'exit');
  let said = '';
  child.stderr.on('data', chunk => {
    // It logs each request.
    if (said.length < 10_000) said += chunk;
  });
  const end = async () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    await ended;
  };
  const url = `http://127.0.0.1:${port}`;
  const until = Date.now() + answersWithinMs;
  while (!(await answers(`${url}/v2/collections?pageSize=1`))) {
    if (child.exitCode === null && Date.now() < until) await sleep(tryAgainMs);
    else {
      await end();
      throw new Error(`the service ${file} does not answer:\n${said}`);
    }
  }
  return { url, end };
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url);
    await response.text();
    return response.ok;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}
