import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { CronJob } from 'kubernetes-models/batch/v1/CronJob';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { Service as KubernetesService } from 'kubernetes-models/v1/Service';
import { validate as isCron } from 'node-cron';
import { describe, expect, test, vi } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { settings } from '../../src/config/settings.ts';
import { programPath } from '../support/program.ts';
import { runCli } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

const root = join(import.meta.dirname, '..', '..');
const deploy = join(root, 'deploy');
const run = promisify(execFile);
const read = (...path: string[]): string => readFileSync(join(deploy, ...path), 'utf8');

const allFiles = readdirSync(deploy, { recursive: true, encoding: 'utf8' })
  .filter(name => statSync(join(deploy, name)).isFile())
  .map(name => [name, read(name)] as const);

interface Service {
  readonly entrypoint?: readonly string[];
  readonly command: readonly string[];
  readonly depends_on?: unknown;
  readonly read_only?: boolean;
  readonly volumes: readonly string[];
  readonly stop_grace_period: string;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly ports?: readonly string[];
}

interface Container {
  readonly name: string;
  readonly image: string;
  /** A shell's; missing if the image's own program runs with the arguments. */
  readonly command?: readonly string[];
  readonly args: readonly string[];
  readonly securityContext: unknown;
  readonly resources: { readonly limits: { readonly memory: string } };
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly livenessProbe?: { readonly httpGet: { readonly path: string } };
  readonly volumeMounts: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
}

interface PodSpec {
  readonly containers: readonly Container[];
  readonly securityContext: unknown;
  readonly terminationGracePeriodSeconds: number;
  readonly volumes: readonly { readonly name: string }[];
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: Record<string, unknown>;
  readonly data?: Record<string, string>;
}

function manifests(name: string): Manifest[] {
  return parseAllDocuments(read('kubernetes', name)).map(document => document.toJS() as Manifest);
}

function podOf({ kind, spec }: Manifest): PodSpec {
  type Template = { spec: PodSpec };
  if (kind === 'Deployment') return (spec.template as Template).spec;
  return (spec.jobTemplate as { spec: { template: Template } }).spec.template.spec;
}

type Model = new (data: never) => { validate(): void };
const models: Readonly<Record<string, Model>> = {
  ConfigMap,
  CronJob,
  Deployment,
  PersistentVolumeClaim,
  Service: KubernetesService,
};

const kubernetesFiles = readdirSync(join(deploy, 'kubernetes'), { recursive: true, encoding: 'utf8' }).filter(
  name => name.endsWith('.yaml') && !name.endsWith('kustomization.yaml'),
);
const compose = parse(read('compose.yaml'), { merge: true }) as {
  readonly services: Record<string, Service>;
};

const documents = [
  ...allFiles,
  ...['running', 'alerting', 'backup'].map(
    name => [`docs/${name}.md`, readFileSync(join(root, 'docs', `${name}.md`), 'utf8')] as const,
  ),
];

test.each(documents)('%s names only settings that there are', (_name, text) => {
  const known = Object.values(settings).map(({ variable }): string => variable);
  const named = text.match(/DOCMIRROR_[A-Z_]*[A-Z]/g) ?? [];
  expect(named.filter(name => !known.includes(name))).toEqual([]);
});

test('every command line of docmirror in there has a command and flags that there are', async () => {
  const lines = [
    ...Object.values(compose.services)
      .filter(({ entrypoint }) => entrypoint === undefined)
      .map(({ command }) => command)
      .filter(([name]) => name !== 'replicate'),
    ...manifestArguments(),
    ...allFiles.flatMap(([, text]) =>
      [...text.matchAll(/(?:bin\/docmirror|app\/dist\/cli\.js) ([^>|;\n]+)/g)].map(match => words(match[1])),
    ),
  ].map(([name = '', ...rest]) =>
    name === 'publish' ? [`publish ${rest[0]}`, ...rest.slice(1)] : [name, ...rest],
  );
  expect(lines.length).toBeGreaterThan(7);
  const commands = [...new Set(lines.map(([command]) => command ?? ''))];
  const helps = new Map(
    await Promise.all(
      commands.map(async name => [name, (await runCli([...name.split(' '), '--help'])).stdout] as const),
    ),
  );
  for (const [command = '', ...rest] of lines) {
    expect(helps.get(command), command).toContain(`Usage: docmirror ${command}`);
    for (const flag of rest.filter(word => word.startsWith('--'))) expect(helps.get(command)).toContain(flag);
  }
});

function manifestArguments(): (readonly string[])[] {
  return kubernetesFiles
    .flatMap(manifests)
    .filter(({ kind }) => kind === 'Deployment' || kind === 'CronJob')
    .flatMap(manifest => podOf(manifest).containers)
    .filter(({ command }) => command === undefined)
    .map(({ args }) => args);
}

function words(text = ''): string[] {
  return text.trim().split(/\s+/);
}

describe('the Kubernetes manifests', () => {
  const all = kubernetesFiles.flatMap(name =>
    manifests(name).map(manifest => [`${name}: ${manifest.kind}`, manifest] as const),
  );

  test.each(all)("fit Kubernetes' own schemas: %s", (_name, manifest) => {
    const Model = models[manifest.kind];
    if (Model === undefined) throw new Error(`There is no schema of ${manifest.kind}.`);
    expect(new Model(manifest as never)).toMatchObject({ apiVersion: manifest.apiVersion });
    expect(() => new Model(manifest as never).validate()).not.toThrow();
    expect(() => new Model({ ...manifest, spec: 'no', data: 'no' } as never).validate()).toThrow();
  });

  const pods = all.filter(([, { kind }]) => kind === 'Deployment' || kind === 'CronJob');

  test.each(pods)(
    'run without rights, write to their volumes alone, and end in time: %s',
    (_name, manifest) => {
      const pod = podOf(manifest);
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(30);
      for (const { securityContext, volumeMounts, resources } of pod.containers) {
        expect(securityContext).toMatchObject({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(resources.limits.memory).toMatch(/^\d+[GM]i$/);
        const pathsOf = (isReadOnly: boolean) =>
          volumeMounts
            .filter(({ readOnly }) => (readOnly ?? false) === isReadOnly)
            .map(({ mountPath }) => mountPath);
        expect(
          pathsOf(false)
            .filter(path => path !== '/backups')
            .sort(),
        ).toEqual(['/data', '/tmp']);
        expect(pathsOf(true)).toContain('/run/docmirror');
        const names = pod.volumes.map(({ name }) => name);
        expect(volumeMounts.filter(({ name }) => !names.includes(name))).toEqual([]);
      }
    },
  );

  test('never let two runs at one mirror', () => {
    const [cronJob] = manifests('cronjob.yaml');
    expect(cronJob?.spec).toMatchObject({ concurrencyPolicy: 'Forbid' });
    expect(isCron(String(cronJob?.spec.schedule))).toBe(true);
    const [deployment] = manifests('watch.yaml');
    expect(deployment?.spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
    expect(podOf(deployment as Manifest).containers.map(each => each.livenessProbe?.httpGet.path)).toEqual([
      '/livez',
      '/livez',
    ]);
  });

  test('end a run by its own deadline before Kubernetes would, and let one wait for another', () => {
    const jobs = all.filter(([, { kind }]) => kind === 'CronJob').map(([, manifest]) => manifest);
    const syncs = jobs.filter(job => podOf(job).containers[0]?.args[0] === 'sync');
    expect(syncs).toHaveLength(2);
    const seconds = { m: 60, h: 3_600 };
    for (const job of syncs) {
      const settingOf = (name: string) =>
        podOf(job).containers[0]?.env?.find(entry => entry.name === name)?.value ?? '';
      const inSeconds = (text: string) => Number.parseInt(text, 10) * seconds[text.at(-1) as 'm' | 'h'];
      const { activeDeadlineSeconds } = (job.spec.jobTemplate as { spec: { activeDeadlineSeconds: number } })
        .spec;
      const longest = inSeconds(settingOf('DOCMIRROR_DEADLINE')) + inSeconds(settingOf('DOCMIRROR_WAIT'));
      expect(activeDeadlineSeconds).toBeGreaterThan(longest);
    }
    for (const job of jobs) expect(job.spec).toMatchObject({ concurrencyPolicy: 'Forbid' });
  });

  test('share their settings and a block volume', () => {
    const [config, claim] = manifests('mirror.yaml');
    expect(isCron(config?.data?.DOCMIRROR_SCHEDULE ?? '')).toBe(true);
    expect(claim?.spec).toMatchObject({ accessModes: ['ReadWriteOnce'] });
  });
});

describe('the compose file', () => {
  test('runs a watch and a server over one volume, without rights, on a root file system that is read-only', () => {
    for (const name of ['watch', 'serve']) {
      expect(compose.services[name]).toMatchObject({
        image: 'docmirror',
        read_only: true,
        tmpfs: ['/tmp'],
        cap_drop: ['ALL'],
        volumes: ['mirror:/data'],
        stop_grace_period: '30s',
      });
    }
    const limits = { mem_limit: /^\d+[gm]$/, security_opt: ['no-new-privileges:true'], ulimits: { core: 0 } };
    for (const service of Object.values(compose.services))
      expect(service).toMatchObject({ ...limits, mem_limit: expect.stringMatching(limits.mem_limit) });
  });

  test('lets nothing wait for a completed run: in a long outage of the service there is none', () => {
    for (const name of ['serve', 'backup', 'litestream'])
      expect(compose.services[name]?.depends_on).toEqual(['watch']);
  });

  test('makes backups again and again, and ends at once when it is stopped', async () => {
    await using scene = await setScene();
    const [script = ''] = compose.services.backup?.command ?? [];
    expect(compose.services.backup?.entrypoint).toEqual(['sh', '-c']);
    const folder = join(scene.folder, 'backups');
    mkdirSync(folder);
    const here = script
      .replaceAll('$$', '$')
      .replace('node --disable-sigusr1 -- /app/dist/cli.js', `"${process.execPath}" -- "${programPath}"`)
      .replace('/backups', folder)
      .replace('sleep 86400', 'sleep 1')
      .replace('sleep 600', 'sleep 1');
    const env = { ...scene.env, PATH: process.env.PATH ?? '' };
    const child = spawn('sh', ['-c', here], { env, stdio: 'ignore' });
    const copies = () => readdirSync(folder).filter(name => name.endsWith('.sqlite')).length;
    // There is no mirror yet, so it fails first.
    await new Promise(resolve => setTimeout(resolve, 1_500));
    expect(copies()).toBe(0);
    await scene.sync();
    await vi.waitFor(() => expect(copies()).toBeGreaterThan(1), 20_000);
    const stoppedAtMs = performance.now();
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([143, null]);
    expect(performance.now() - stoppedAtMs).toBeLessThan(5_000);
  });

  test('shows the server to this machine alone', () => {
    expect(compose.services.serve?.ports?.every(port => port.startsWith('127.0.0.1:'))).toBe(true);
  });

  test('asks for health in a way that works', async () => {
    const [, program, ...args] = compose.services.serve?.healthcheck?.test ?? [];
    expect(program).toBe('node');
    // Nobody listens there.
    await expect(
      run(process.execPath, [args[0] ?? '', (args[1] ?? '').replace('8080', '9')]),
    ).rejects.toThrow();
  });

  test('gives Litestream a configuration of the same file', () => {
    const { dbs } = parse(read('litestream.yml')) as { dbs: unknown[] };
    // Litestream 0.5 has one replica a database; before, it had a list of them.
    expect(dbs).toEqual([
      { path: '/data/docmirror.sqlite', replica: { url: expect.stringContaining('LITESTREAM_REPLICA_URL') } },
    ]);
    expect(readFileSync(join(root, 'Dockerfile'), 'utf8')).toContain(
      'DOCMIRROR_DATABASE=/data/docmirror.sqlite',
    );
  });
});

describe('the Dockerfile', () => {
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8');

  test('copies only what there is, and what is let into the build', () => {
    const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(match => words(match[1]));
    expect(copied.length).toBeGreaterThan(5);
    expect(copied.filter(name => !existsSync(join(root, name)))).toEqual([]);
    expect(copied.filter(name => !ignored.includes(`!${name}\n`))).toEqual([]);
  });

  test('ends as a user without rights, with the program itself as first process', () => {
    expect(text).toMatch(/^USER node$/m);
    expect(text).toMatch(/^ENTRYPOINT \["node", "--disable-sigusr1", "--", "\/app\/dist\/cli\.js"\]$/m);
    expect(text).not.toMatch(/^(ENV|ARG).*TOKEN/m);
  });
});
