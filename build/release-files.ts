import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './bundle.ts';
import { shrinkwrapOf } from './shrinkwrap.ts';

// Writes the files of a release into release/: npm run release:files

const root = join(import.meta.dirname, '..');

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
}

interface Sbom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

/**
 * Writes three files into a folder. They are the package; `NAME.cdx.json` (CycloneDX), which lists its parts, also
 * development packages with code in dist/; and `SHA256SUMS`, which `sha256sum --check` reads.
 *
 * @returns the names of the files.
 */
export async function writeReleaseFiles(folder: string): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  npm('pack', '--silent', '--pack-destination', folder);
  const [tarball = ''] = readdirSync(folder).filter(name => name.endsWith('.tgz'));
  const sbom = tarball.replace(/\.tgz$/, '.cdx.json');
  writeFileSync(join(folder, sbom), `${JSON.stringify(await sbomOf(), null, 2)}\n`);
  const sums = [tarball, sbom].map(name => `${sha256(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
  return [tarball, sbom, 'SHA256SUMS'];
}

async function sbomOf(): Promise<Sbom> {
  const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { packages } = shrinkwrapOf(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')));
  const { bundledPackages } = await bundle('dist');
  const needed = new Set(
    Object.entries(packages).map(([path, { version }]) => `${packageAt(path)}@${version}`),
  );
  // With --omit=dev, npm leaves out packages that both need, for example better-sqlite3.
  const all: Sbom = JSON.parse(npm('sbom', '--sbom-format=cyclonedx', '--package-lock-only'));
  const components = all.components.filter(
    each => needed.has(`${each.name}@${each.version}`) || bundledPackages.has(each.name),
  );
  const { component } = all.metadata;
  const refs = new Set([component, ...components].map(each => each['bom-ref']));
  const dependencies = all.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(each => refs.has(each)) }));
  // npm names it after its folder.
  return {
    ...all,
    metadata: { ...all.metadata, component: { ...component, name } },
    components,
    dependencies,
  };
}

/** The package at a path of a lock. */
function packageAt(path: string): string {
  return path.replace(/.*node_modules\//, '');
}

function npm(...args: string[]): string {
  return execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

if (import.meta.main) {
  for (const name of await writeReleaseFiles(join(root, 'release'))) console.log(`release/${name}`);
}
