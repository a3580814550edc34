import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { CronJob } from 'kubernetes-models/batch/v1/CronJob';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { Service } from 'kubernetes-models/v1/Service';
import { validate as isCron } from 'node-cron';
import { expect, test, vi } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { docmirrorShell } from '../support/docmirror-shell.ts';
import { programPath } from '../support/program.ts';
import { sqlite, temporaryFolder } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

const root = join(import.meta.dirname, '..', '..');
const deploy = join(root, 'deploy');
const run = promisify(execFile);
const read = (...path: string[]): string => readFileSync(join(deploy, ...path), 'utf8');
const words = (said = ''): string[] => said.trim().split(/\s+/);

interface Pod {
  readonly containers: readonly {
    readonly securityContext: unknown;
    readonly volumeMounts: readonly { readonly mountPath: string; readonly readOnly?: boolean }[];
  }[];
  readonly securityContext: unknown;
}

interface Manifest {
  readonly kind: string;
  readonly spec: Record<string, unknown>;
}

const manifests = readdirSync(join(deploy, 'kubernetes')).flatMap(name =>
  parseAllDocuments(read('kubernetes', name)).map(document => {
    const manifest = document.toJS() as Manifest;
    return [`${name}: ${manifest.kind}`, manifest] as const;
  }),
);

function podsOf({ kind, spec }: Manifest): Pod[] {
  type Template = { spec: Pod };
  if (kind === 'Deployment') return [(spec.template as Template).spec];
  if (kind !== 'CronJob') return [];
  return [(spec.jobTemplate as { spec: { template: Template } }).spec.template.spec];
}

const compose = parse(read('compose.yaml'), { merge: true }) as {
  readonly services: Record<string, { command: readonly string[] }>;
};

type Model = new (manifest: never) => { validate(): void };
const models: Record<string, Model> = { ConfigMap, CronJob, Deployment, PersistentVolumeClaim, Service };

test.each(manifests)("fits Kubernetes' own schema, and its pods have no rights: %s", (_name, manifest) => {
  const Model = models[manifest.kind] as Model;
  expect(() => new Model(manifest as never).validate()).not.toThrow();
  for (const { securityContext: ofPod, containers } of podsOf(manifest)) {
    expect(ofPod).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    for (const { securityContext, volumeMounts } of containers) {
      const none = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
      expect(securityContext).toMatchObject({ ...none, readOnlyRootFilesystem: true });
      const written = volumeMounts.filter(({ readOnly }) => readOnly !== true).map(each => each.mountPath);
      expect(written.filter(path => path !== '/backups').sort()).toEqual(['/data', '/tmp']);
    }
  }
  if (manifest.kind === 'CronJob') expect(manifest.spec).toMatchObject({ concurrencyPolicy: 'Forbid' });
});

test.each(['watch', 'serve'])('%s of the compose file runs without rights', name => {
  const rights = { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] };
  expect(compose.services[name]).toMatchObject({ ...rights, volumes: ['mirror:/data'] });
});

test('the compose file makes backups again and again, and ends at once when it is stopped', async () => {
  await using scene = await setScene();
  const [script = ''] = compose.services.backup?.command ?? [];
  const folder = join(scene.folder, 'backups');
  mkdirSync(folder);
  const here = script
    .replaceAll('$$', '$')
    .replace('node --disable-sigusr1 -- /app/dist/cli.js', `"${process.execPath}" -- "${programPath}"`)
    .replace('/backups', folder)
    .replace('sleep 86400', 'sleep 1')
    .replace('sleep 600', 'sleep 1');
  const env = { ...scene.env, PATH: process.env.PATH ?? '' };
  // There is no mirror yet, so it fails first.
  const child = spawn('sh', ['-c', here], { env, stdio: 'ignore' });
  await scene.sync();
  const copies = () => readdirSync(folder).filter(name => name.endsWith('.sqlite')).length;
  await vi.waitFor(() => expect(copies()).toBeGreaterThan(1), 20_000);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([143, null]);
});

test('the Dockerfile copies only what there is and what is let into the build', () => {
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8');
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(match => words(match[1]));
  expect(copied.length).toBeGreaterThan(5);
  expect(copied.filter(name => !existsSync(join(root, name)) || !ignored.includes(`!${name}\n`))).toEqual([]);
  expect(dockerfile).toMatch(/^USER node$/m);
});

/** Runs a program beside the servers of this process, with this environment and no other. */
async function runWith(program: string, args: string[], env: Record<string, string>) {
  const child = spawn(program, args, { env, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = [text(child.stdout), text(child.stderr), once(child, 'close')] as const;
  const [stdout, stderr, [code]] = await Promise.all(ended);
  return { code: code as number | null, said: `${stdout}${stderr}` };
}

test('the crontab mails nothing of what went well, and of a failure all that was said, the line for the night first, with the exit code', async () => {
  await using scene = await setScene();
  docmirrorShell(scene.folder);
  for (const folder of ['lib', 'lib/backups']) mkdirSync(join(scene.folder, folder));
  writeFileSync(join(scene.folder, 'token'), scene.service.options.token);
  const here = read('crontab')
    .replaceAll('/usr/local/bin/docmirror', join(scene.folder, 'bin', 'docmirror'))
    .replaceAll('/var/lib/docmirror', join(scene.folder, 'lib'))
    .replaceAll('/etc/docmirror/token', join(scene.folder, 'token'))
    .replaceAll('https://service.example', scene.service.url)
    .split('\n');
  const env = Object.fromEntries(
    here.flatMap(line => {
      const [, name = '', value = ''] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
      return name === '' ? [] : [[name, value]];
    }),
  );
  const jobs = here.filter(line => /^[\d*]/.test(line));
  expect(jobs).toHaveLength(3);
  for (const job of jobs) {
    expect(isCron(words(job).slice(0, 5).join(' '))).toBe(true);
    // For cron it would end the command.
    expect(job).not.toContain('%');
    // The subject of a mail is the command.
    expect(job).toMatch(/ sh -c "\$MAIL_IF_FAILED" docmirror \w+/);
  }
  const cron = (job = '') =>
    runWith(env.SHELL ?? '', ['-c', job.replace(/^(?:\S+ +){6}/, '')], env as Record<string, string>);
  const [sync, backup, list] = jobs;
  expect(await cron(list)).toMatchObject({ code: 4, said: expect.stringContaining('no backup') });
  for (const job of [sync, backup, list]) expect(await cron(job)).toEqual({ code: 0, said: '' });
  const mirror = join(scene.folder, 'lib', 'docmirror.sqlite');
  expect(sqlite(mirror, 'SELECT "trigger" FROM sync_runs')).toEqual([{ trigger: 'cron' }]);
  writeFileSync(join(scene.folder, 'token'), 'revoked');
  const refused = await cron(sync);
  expect(refused).toMatchObject({ code: 12, said: expect.stringContaining('[unauthorized]') });
  expect(refused.said).toMatch(
    /^docmirror\.sqlite: failed \(unauthorized\)\. The mirror is complete as of run 1, .* ago\.\n\nList /,
  );
});

const units = readdirSync(join(deploy, 'systemd')).filter(name => !name.endsWith('.env'));
const services = units.filter(name => name.endsWith('.service'));
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

test.skipIf(!hasSystemd)('systemd takes the units, and rates their exposure at 1.5 or better', async () => {
  await using folder = temporaryFolder();
  // Templates get a tenant, and the programs are ones that are installed where the test runs.
  const pathOf = (name: string) => join(folder.path, name.replace('@', '@acme'));
  for (const name of units) {
    const here = read('systemd', name)
      .replaceAll(/\/usr\/local\/bin\/docmirror/g, '/bin/true')
      .replace(/^Documentation=.*\n/m, '');
    writeFileSync(pathOf(name), here);
  }
  const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', ...units.map(pathOf)]);
  expect(`${stdout}${stderr}`.split('\n').filter(line => line.includes(folder.path))).toEqual([]);
  const rate = ['security', '--offline=true', '--threshold=15', '--no-pager'];
  for (const name of services) await run('systemd-analyze', [...rate, pathOf(name)]);
});

test.each(services)('%s makes private files and leaves no core dump', name => {
  const unit = read('systemd', name);
  expect(unit).toMatch(/^LimitCORE=0$/m);
  expect(unit).toMatch(/^UMask=0077$/m);
  if (name.includes('serve')) expect(unit).toMatch(/^Restart=on-failure$/m);
});
