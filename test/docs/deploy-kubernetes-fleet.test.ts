import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CronJob } from 'kubernetes-models/batch/v1/CronJob';
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { Secret } from 'kubernetes-models/v1/Secret';
import { validate as isCron } from 'node-cron';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type TemporaryFolder, temporaryFolder } from '../support/run-cli.ts';
import { make } from '../support/scene.ts';

const template = join(import.meta.dirname, '..', '..', 'deploy', 'kubernetes', 'fleet');
const run = promisify(execFile);

const kustomize = [['kustomize', 'build'] as const, ['kubectl', 'kustomize'] as const].find(
  ([program, word]) => spawnSync(program, [word, '--help']).status === 0,
);
const skipped = kustomize === undefined ? ' (skipped: neither kustomize nor kubectl is installed)' : '';

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Record<string, string> };
  readonly spec: Record<string, unknown>;
  readonly data?: Record<string, string>;
}

interface Pod {
  readonly metadata: { readonly labels: Record<string, string> };
  readonly spec: {
    readonly containers: readonly {
      readonly args: readonly string[];
      readonly env: readonly { name: string }[];
    }[];
    readonly volumes: readonly {
      readonly persistentVolumeClaim?: { readonly claimName: string };
      readonly secret?: { readonly secretName: string };
    }[];
  };
}

/** A copy of the template, and a file of settings for each tenant. */
function fleet(tenants: readonly string[]): TemporaryFolder & { readonly files: string[] } {
  const folder = temporaryFolder();
  cpSync(template, join(folder.path, 'fleet'), { recursive: true });
  mkdirSync(join(folder.path, 'env'));
  const files = tenants.map(name => {
    const file = join(folder.path, 'env', `${name}.env`);
    writeFileSync(file, `DOCMIRROR_TOKEN=of-${name}\n`);
    return file;
  });
  return { ...folder, files };
}

const add = (at: TemporaryFolder, ...files: string[]) =>
  run('sh', [join(at.path, 'fleet', 'add-tenant'), ...files]);

async function render(at: TemporaryFolder): Promise<Rendered[]> {
  const [program = '', word = ''] = kustomize ?? [];
  const options = { maxBuffer: 32 * 1024 * 1024 };
  const { stdout } = await run(program, [word, join(at.path, 'fleet', 'tenants')], options);
  return parseAllDocuments(stdout).map(document => document.toJS() as Rendered);
}

const podOf = (job: Rendered): Pod => (job.spec.jobTemplate as { spec: { template: Pod } }).spec.template;

test('a name that Kubernetes would refuse is refused, and nothing is made of it', async () => {
  await using at = fleet(['Acme_1']);
  await expect(add(at, ...at.files)).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Acme_1'),
  });
});

describe.skipIf(kustomize === undefined)(`a fleet of 40 tenants, as kustomize renders it${skipped}`, () => {
  const names = ['42', ...make(39, n => `tenant-${n}`)];
  let all: Rendered[] = [];

  beforeAll(async () => {
    await using at = fleet(names);
    await add(at, ...at.files);
    expect(statSync(join(at.path, 'fleet', 'tenants', '42', 'tenant.env')).mode & 0o777).toBe(0o600);
    all = await render(at);
  });

  test("fits Kubernetes' own schemas", () => {
    const models = { CronJob, PersistentVolumeClaim, Secret } as Record<
      string,
      new (
        data: never,
      ) => { validate(): void }
    >;
    for (const each of all) {
      const Model = models[each.kind];
      if (Model === undefined) throw new Error(`There is no schema of ${each.kind}.`);
      new Model(each as never).validate();
    }
    expect(all).toHaveLength(40 * 5);
  });

  test('is a CronJob a tenant, which mounts the secret and the volumes of that tenant and no other', () => {
    for (const name of names) {
      const own = all.filter(({ metadata }) => metadata.labels.tenant === name);
      const namesOfOwn = new Set(own.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
      const expected = [
        `CronJob docmirror-backup-${name}`,
        `CronJob docmirror-sync-${name}`,
        `PersistentVolumeClaim docmirror-${name}`,
        `PersistentVolumeClaim docmirror-backups-${name}`,
        `Secret docmirror-${name}`,
      ];
      expect(namesOfOwn).toEqual(new Set(expected));
      const secret = own.find(({ kind }) => kind === 'Secret')?.data?.['tenant.env'] ?? '';
      expect(Buffer.from(secret, 'base64').toString()).toBe(`DOCMIRROR_TOKEN=of-${name}\n`);
      for (const job of own.filter(({ kind }) => kind === 'CronJob')) {
        const pod = podOf(job);
        expect(pod.metadata.labels).toEqual({ tenant: name });
        const claims = pod.spec.volumes.flatMap(({ persistentVolumeClaim: claim }) => claim?.claimName ?? []);
        const isBackup = job.metadata.name.startsWith('docmirror-backup');
        expect(claims).toEqual([`docmirror-${name}`, ...(isBackup ? [`docmirror-backups-${name}`] : [])]);
        expect(pod.spec.volumes.flatMap(({ secret: each }) => each?.secretName ?? [])).toEqual([
          `docmirror-${name}`,
        ]);
        // Kubernetes puts the label's value in their place; what is used has to be named before.
        expect(pod.spec.containers[0]?.env[0]?.name).toBe('TENANT');
        expect(pod.spec.containers[0]?.args).toContain('/data/$(TENANT).sqlite');
      }
    }
  });

  test('begins its runs at minutes that are spread over the hour', () => {
    const schedules = all.filter(({ kind }) => kind === 'CronJob').map(({ spec }) => String(spec.schedule));
    expect(schedules.filter(schedule => !isCron(schedule))).toEqual([]);
    expect(new Set(schedules.map(schedule => schedule.split(' ')[0])).size).toBeGreaterThan(20);
  });

  test('publishes a tenant that asks to be published', async () => {
    await using at = fleet(['acme', 'globex']);
    await add(at, ...at.files);
    writeFileSync(
      join(at.path, 'fleet', 'tenants', 'acme', 'kustomization.yaml'),
      '\ncomponents: [../../publish]\n',
      { flag: 'a' },
    );
    const jobs = (await render(at)).filter(({ metadata }) => metadata.name.includes('publish'));
    expect(jobs.map(({ metadata }) => metadata.name)).toEqual(['docmirror-publish-acme']);
    expect(podOf(jobs[0] as Rendered).spec.volumes[0]?.persistentVolumeClaim?.claimName).toBe(
      'docmirror-acme',
    );
  });
});
