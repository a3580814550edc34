import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { validate as isCron } from 'node-cron';
import { describe, expect, test } from 'vitest';
import { docmirrorShell } from '../support/docmirror-shell.ts';
import { sqlite, temporaryFolder } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';

const deploy = join(import.meta.dirname, '..', '..', 'deploy');
const run = promisify(execFile);
const read = (...path: string[]): string => readFileSync(join(deploy, ...path), 'utf8');

/** Runs a program beside the servers of this process, with this environment and no other. */
async function runWith(program: string, args: string[], env: Record<string, string>) {
  const child = spawn(program, args, { env, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = [text(child.stdout), text(child.stderr), once(child, 'close')] as const;
  const [stdout, stderr, [code]] = await Promise.all(ended);
  return { code: code as number | null, said: `${stdout}${stderr}` };
}

describe('the crontab', () => {
  const lines = read('crontab').split('\n');
  const jobs = lines.filter(line => /^[\d*]/.test(line));
  const settings = lines.flatMap(line => {
    const [, name = '', value = ''] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
    return name === '' ? [] : [[name, value] as const];
  });
  const [sync = '', backup = '', list = ''] = jobs;

  /** Does with a line what cron does, with a folder in the place of the machine's. */
  function cron(scene: Scene, line: string) {
    const [, command = ''] = /^(?:\S+ +){6}(.*)$/.exec(line) ?? [];
    const here = (said: string) =>
      said
        .replaceAll('/usr/local/bin/docmirror', join(scene.folder, 'bin', 'docmirror'))
        .replaceAll('/var/lib/docmirror', join(scene.folder, 'lib'))
        .replaceAll('/etc/docmirror/token', join(scene.folder, 'token'))
        .replaceAll('https://service.example', scene.service.url);
    const env = Object.fromEntries(settings.map(([name, value]) => [name, here(value)]));
    return runWith(env.SHELL ?? '', ['-c', here(command)], env);
  }

  test('has on each line five fields, a user and docmirror, and no per cent sign, which would end the command', () => {
    expect(jobs).toHaveLength(3);
    for (const line of jobs) {
      expect(isCron(line.split(/\s+/).slice(0, 5).join(' '))).toBe(true);
      expect(line).toMatch(/^(\S+ +){5}docmirror +out=\$\(\/usr\/local\/bin\/docmirror /);
      expect(line).not.toContain('%');
    }
    expect(Object.fromEntries(settings).MAILTO).toMatch(/^\S+@\S+$/);
  });

  test('mails nothing of what went well, and of a failure all that was said, with the exit code of docmirror', async () => {
    await using scene = await setScene();
    docmirrorShell(scene.folder);
    for (const folder of ['lib', 'lib/backups']) mkdirSync(join(scene.folder, folder));
    writeFileSync(join(scene.folder, 'token'), scene.service.options.token);
    const none = await cron(scene, list);
    expect(none).toMatchObject({ code: 4, said: expect.stringContaining('no backup') });
    for (const line of [sync, backup, list]) expect(await cron(scene, line)).toEqual({ code: 0, said: '' });
    const mirror = join(scene.folder, 'lib', 'docmirror.sqlite');
    expect(sqlite(mirror, 'SELECT "trigger" FROM sync_runs')).toEqual([{ trigger: 'cron' }]);

    writeFileSync(join(scene.folder, 'token'), 'revoked');
    const refused = await cron(scene, sync);
    expect(refused.code).toBe(12);
    expect(refused.said).toContain('[unauthorized]');
    const backups = join(scene.folder, 'lib', 'backups');
    const [copy = ''] = readdirSync(backups).filter(name => name.endsWith('.sqlite'));
    writeFileSync(join(backups, copy), 'altered');
    expect(await cron(scene, list)).toMatchObject({ code: 4, said: expect.stringContaining('altered') });
  });
});

const units = readdirSync(join(deploy, 'systemd')).filter(name => !name.endsWith('.env'));
const services = units.filter(name => name.endsWith('.service'));
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
const skipped = hasSystemd ? '' : ' (skipped: there is no systemd-analyze)';

describe.skipIf(!hasSystemd)(`systemd${skipped}`, () => {
  /** Templates get a tenant, and the programs are ones that are installed where the test runs. */
  async function written(folder: string): Promise<string[]> {
    return units.map(name => {
      const placed = read('systemd', name)
        .replaceAll(/\/usr\/local\/bin\/docmirror(-tenant|-failed)?/g, '/bin/true')
        .replace(/^Documentation=.*\n/m, '');
      const path = join(folder, name.replace('@', '@acme'));
      writeFileSync(path, placed);
      return path;
    });
  }

  test('takes the units', async () => {
    await using folder = temporaryFolder();
    const paths = await written(folder.path);
    const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', ...paths]);
    const complaints = `${stdout}${stderr}`.split('\n').filter(line => line.includes(folder.path));
    expect(complaints).toEqual([]);
  });

  test.each(services)('rates the exposure of %s at 1.5 or better', async name => {
    await using folder = temporaryFolder();
    await written(folder.path);
    const rate = (path: string) =>
      run('systemd-analyze', ['security', '--offline=true', '--threshold=15', '--no-pager', path]);
    const path = join(folder.path, name.replace('@', '@acme'));
    await rate(path);
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(/^(ProtectProc|SystemCall.*|Private.*)=.*\n/gm, ''),
    );
    await expect(rate(path)).rejects.toThrow();
  });
});

describe('the units', () => {
  const hardening = (name: string) =>
    read('systemd', name).slice(read('systemd', name).indexOf('MemoryMax=')).split('\n');

  test.each(services)('%s has a memory limit, leaves no core dump and makes private files', name => {
    const unit = read('systemd', name);
    expect(unit).toMatch(/^MemoryMax=\d+[MG]$/m);
    expect(unit).toMatch(/^LimitCORE=0$/m);
    expect(unit).toMatch(/^UMask=0077$/m);
  });

  test.each(services)('%s notifies somebody if it fails, or is started again for ever', name => {
    const unit = read('systemd', name);
    if (name.startsWith('docmirror-failed')) expect(unit).not.toMatch(/^OnFailure=/m);
    else if (name.includes('serve'))
      expect(unit).toMatch(/^StartLimitIntervalSec=0$[\s\S]*^Restart=on-failure$/m);
    else expect(unit).toMatch(/^OnFailure=docmirror-failed@%n\.service$/m);
  });

  test("a tenant's is as hardened as the one of a single mirror", () => {
    for (const kind of ['docmirror', 'docmirror-backup'])
      expect(hardening(`${kind}@.service`)).toEqual(hardening(`${kind}.service`));
    expect(hardening('docmirror.service').length).toBeGreaterThan(20);
  });

  test.each(['docmirror', 'docmirror-backup'])(
    "a tenant's %s reads its own file alone, writes to its own folder alone, and has its own timer",
    kind => {
      const template = read('systemd', `${kind}@.service`);
      expect(template).toMatch(/^LoadCredential=%i\.env:\/etc\/docmirror\/%i\.env$/m);
      expect(template).toMatch(/^StateDirectory=docmirror\/%i( docmirror\/%i\/backups)?$/m);
      expect(template).toMatch(/^ExecStart=.*%d\/%i\.env/m);
      expect(template).not.toMatch(/^(EnvironmentFile|ReadWritePaths)=/m);
      expect(read('systemd', `${kind}@.timer`)).not.toContain('Unit=');
    },
  );
});

describe('docmirror-failed', () => {
  async function listening(server: Server): Promise<number> {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  }

  /** A mail server that takes one mail at a time and returns it. */
  function mailServer(mails: string[]): Server {
    return createTcpServer(socket => {
      let said = '';
      socket.write('220 here\r\n');
      socket.on('data', bytes => {
        said += bytes;
        const inData = said.includes('DATA\r\n');
        if (inData && !said.endsWith('\r\n.\r\n')) {
          if (said.endsWith('DATA\r\n')) socket.write('354 go on\r\n');
          return;
        }
        if (/QUIT\r\n$/.test(said)) socket.end('221 bye\r\n');
        else socket.write('250 OK\r\n');
        if (!inData) return;
        mails.push(said);
        said = '';
      });
    });
  }

  test('reports by mail, in Slack and by a ping which unit failed, and fails if it can not', async () => {
    const mails: string[] = [];
    const posts: { path: string | undefined; body: string }[] = [];
    const mail = mailServer(mails);
    const web = createServer(async (request, response) => {
      posts.push({ path: request.url, body: await text(request) });
      response.end('ok');
    });
    const [mailPort, webPort] = [await listening(mail), await listening(web)];
    await using folder = temporaryFolder();
    const told = join(folder.path, 'told.env');
    const settings = (lines: string) => writeFileSync(told, `${read('systemd', 'told.env')}\n${lines}\n`);
    const tell = () =>
      runWith('sh', [join(deploy, 'docmirror-failed'), told, 'docmirror@acme.service'], {
        PATH: process.env.PATH ?? '',
      });
    const server = `MAIL_SERVER=smtp://127.0.0.1:${mailPort}`;
    const url = `http://127.0.0.1:${webPort}`;
    settings(`${server}\nSLACK_URL=${url}/slack\nFAILED_PING_URL=${url}/uuid/fail`);
    expect(await tell()).toEqual({ code: 0, said: '' });
    expect(mails.join('')).toMatch(/RCPT TO:<ops@example\.com>/);
    expect(mails.join('')).toMatch(/^Subject: docmirror@acme\.service failed on \S+\r$/m);
    expect(posts.map(({ path }) => path)).toEqual(['/slack', '/uuid/fail']);
    expect(JSON.parse(posts[0]?.body ?? '')).toEqual({
      text: expect.stringMatching(/^docmirror@acme\.service failed on .*: journalctl --unit docmirror@acme/),
    });
    expect(posts[1]?.body).toMatch(/^docmirror@acme\.service failed on /);

    settings(`${server}\nSLACK_URL=http://127.0.0.1:9/slack`);
    expect(await tell()).toMatchObject({ code: 1 });
    writeFileSync(told, '');
    expect(await tell()).toMatchObject({ code: 2, said: expect.stringContaining('names nobody to tell') });
    mail.close();
    web.closeAllConnections();
    web.close();
  });
});
