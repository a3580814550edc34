import { type SpawnSyncOptionsWithStringEncoding, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeReleaseFiles } from './release-files.ts';
import { versionFaults } from './versions.ts';

// Goes through the checklist of a release: npm run release:check. With --without-tests it leaves out the long steps.

const root = join(import.meta.dirname, '..');
const release = join(root, 'release');
const stepMsMax = 1_800_000;

/** A line of the checklist: its name, and the faults that it found, in words; none if all is right. */
interface Step {
  readonly name: string;
  readonly isLong?: true;
  readonly faults: () => readonly string[] | Promise<readonly string[]>;
}

const read = (name: string) => readFileSync(join(root, name), 'utf8');

const steps: readonly Step[] = [
  {
    name: 'package.json, package-lock.json and CHANGELOG.md name one version',
    faults: () =>
      versionFaults({
        manifest: read('package.json'),
        lock: read('package-lock.json'),
        changelog: read('CHANGELOG.md'),
      }),
  },
  {
    name: 'everything is committed',
    faults: () => output('git', ['status', '--porcelain']).map(line => `not committed: ${line}`),
  },
  { name: 'types, style and the arrows between rooms', faults: () => npm('run', '-s', 'check') },
  { name: 'npm test', isLong: true, faults: () => npm('test') },
  { name: 'npm run test:long', isLong: true, faults: () => npm('run', '-s', 'test:long') },
  {
    name: 'the package, its SBOM and their SHA-256 are in release/, and the package runs in an empty folder',
    faults: packageFaults,
  },
];

/** Writes the package, and runs it as a user who has only Node and npm. */
async function packageFaults(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'docmirror-release-'));
  try {
    rmSync(release, { recursive: true, force: true });
    const [tarball = ''] = await writeReleaseFiles(release);
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    const from = [
      'exec',
      '--prefer-offline',
      '--yes',
      `--package=${join(release, tarball)}`,
      '--',
      'docmirror',
    ];
    const { version } = JSON.parse(read('package.json'));
    const said = output('npm', [...from, '--version'], empty);
    if (said.at(-1) !== version) return [`--version said ${said.join(' ')}, not ${version}`];
    return [
      ...run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], release),
      ...run('npm', [...from, 'demo'], empty),
      ...run('npm', [...from, 'verify', '--database', 'docmirror-demo.sqlite'], empty),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function npm(...args: string[]): readonly string[] {
  return run('npm', args, root);
}

function run(program: string, args: readonly string[], cwd: string): readonly string[] {
  const { status, stdout, stderr } = spawnSync(program, args, optionsIn(cwd));
  return status === 0 ? [] : [`${program} ${args.join(' ')} ended with ${status}`, stdout, stderr];
}

function output(program: string, args: readonly string[], cwd = root): string[] {
  const { stdout } = spawnSync(program, args, optionsIn(cwd));
  return stdout.split('\n').filter(line => line !== '');
}

function optionsIn(cwd: string): SpawnSyncOptionsWithStringEncoding {
  return { cwd, encoding: 'utf8', timeout: stepMsMax, maxBuffer: 64 * 1024 * 1024 };
}

const withoutTests = process.argv.includes('--without-tests');
for (const { name, isLong, faults } of steps) {
  if (isLong && withoutTests) {
    console.log(`left out  ${name}`);
    continue;
  }
  const found = (await faults()).filter(line => line.trim() !== '');
  console.log(`${found.length === 0 ? 'ok      ' : 'FAILED  '}  ${name}`);
  for (const line of found) console.log(line.replace(/^/gm, '            '));
  if (found.length > 0) process.exitCode = 1;
}
