/** The texts of the files that name the version. */
export interface VersionedFiles {
  readonly manifest: string;
  readonly lock: string;
  readonly changelog: string;
}

/**
 * The reasons against a release of these files, a line each. There is none if all name one version, and the changelog
 * has its date.
 */
export function versionFaults({ manifest, lock, changelog }: VersionedFiles): string[] {
  const { version } = JSON.parse(manifest);
  const locked = JSON.parse(lock);
  const heading = /^## (.*)$/m.exec(changelog)?.[1] ?? 'nothing';
  const isDated = heading.startsWith(`${version} (`) && /\(\d{4}-\d\d-\d\d\)$/.test(heading);
  return [
    ...(locked.version === version && locked.packages[''].version === version
      ? []
      : [`package-lock.json names ${locked.version}, package.json ${version}: npm install`]),
    ...(isDated ? [] : [`CHANGELOG.md begins with "${heading}", not with "${version} (YYYY-MM-DD)"`]),
  ];
}
