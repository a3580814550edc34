import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

const source = join(import.meta.dirname, '..', 'src');

type Table = Readonly<Record<string, readonly string[]>>;
const table = (lines: Readonly<Record<string, string>>): Table =>
  Object.fromEntries(Object.entries(lines).map(([name, all]) => [name, all.split(' ').filter(Boolean)]));

/**
 * The rooms that each room can import from. The rooms don't know each other; `commands` wires them. The rooms of `store` are in one
 * line:
 *
 * - `tables` has the shape of a mirror, and knows no file.
 * - `receipts` has what a run or an upgrade states of it.
 * - `file` opens a mirror and brings it to that shape.
 * - `write` and `read` work on open files and don't know each other.
 * - `verify` and `copies` use all of these.
 */
const allowedRooms = table({
  cli: 'commands errors version',
  printable: '',
  version: '',
  'time-slice': '',
  errors: '',
  findings: 'proof',
  schema: 'store/tables',
  config: 'contract errors',
  contract: '',
  audit: 'contract',
  service: 'contract errors printable',
  proof: 'contract',
  publish: 'contract errors store/read',
  sync: 'contract errors findings proof store/file store/tables store/write',
  'store/tables': 'contract errors findings proof',
  'store/receipts': 'audit contract errors store/tables time-slice',
  'store/file': 'contract errors store/receipts store/tables version',
  'store/write': 'audit contract errors findings proof store/file store/receipts store/tables time-slice',
  'store/read': 'audit contract errors store/file store/receipts store/tables',
  'store/verify': 'audit contract errors store/file store/receipts store/tables store/write time-slice',
  'store/copies': 'contract errors store/file store/receipts store/tables store/verify version',
  render: 'audit contract errors findings printable store/read store/tables',
  serve: 'contract errors printable render store/read version',
  commands:
    'audit config contract errors findings printable publish render serve service store/copies store/file store/read store/receipts store/verify store/write sync time-slice version',
});

/** Imports that can only be of types. */
const typesOnly = ['publish → store/read', 'findings → proof', 'store/tables → proof'];

/** Packages that only some rooms can use. */
const packageRooms = table({
  'better-sqlite3': 'store/file store/read store/tables store/write',
  'drizzle-orm': 'store/file store/tables',
  undici: 'service',
  'p-retry': 'publish service',
  '@clickhouse/client': 'publish',
  'node-cron': 'commands',
  pino: 'commands',
  'get-east-asian-width': 'render',
  'csv-stringify': 'render',
  fflate: 'render',
  'hyparquet-writer': 'render',
  typebox: 'contract',
  canonicalize: 'audit',
  fastify: 'serve',
});

interface Import {
  /** Paths from `src`; `target` is a package's name if it is one. */
  readonly file: string;
  readonly target: string;
  readonly isPackage: boolean;
  readonly isTypeOnly: boolean;
}

const staticImport = /^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm;
const dynamicImport = /\bimport\(\s*'([^']+)'\s*\)/g;
const anyDynamicImport = /\bimport\(/g;

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'));
/** What `demo` serves is an example, and no part of the program. */
const sampleService = join('..', 'examples', 'sample-service');

const texts = new Map(files.map(file => [file, readFileSync(join(source, file), 'utf8')]));
const imports = files.flatMap(importsOf);
const internal = imports.filter(
  ({ isPackage, target }) => !isPackage && !target.endsWith('.json') && !target.startsWith(sampleService),
);

/** Every import of a file, also those that wait until they are needed; those of Node's own modules are left out. */
function importsOf(file: string): Import[] {
  const text = texts.get(file) ?? '';
  const found = [...text.matchAll(staticImport)].map(([whole, type, target = '']) => ({
    target,
    isTypeOnly: type !== undefined || /\{(\s*type\s+\w+(\s+as\s+\w+)?,?)+\s*\}/.test(whole),
  }));
  for (const [, target = ''] of text.matchAll(dynamicImport)) found.push({ target, isTypeOnly: false });
  return found
    .filter(({ target }) => !target.startsWith('node:'))
    .map(({ target, isTypeOnly }) => {
      const isPackage = !target.startsWith('.');
      return {
        file,
        isPackage,
        isTypeOnly,
        target: isPackage ? packageOf(target) : join(dirname(file), target),
      };
    });
}

function packageOf(target: string): string {
  const parts = target.split('/');
  return parts.slice(0, target.startsWith('@') ? 2 : 1).join('/');
}

/** The room of a file, and in `store` the inner room. */
function roomOf(file: string): string {
  const [room = '', inner = ''] = file.split('/');
  return room === 'store' ? `store/${inner}` : room.replace(/\.ts$/, '');
}

const arrowOf = ({ file, target }: Import) => `${roomOf(file)} → ${roomOf(target)}`;
const crossings = internal.filter(({ file, target }) => roomOf(file) !== roomOf(target));
const said = (entries: readonly Import[]) => entries.map(({ file, target }) => `${file} imports ${target}`);
const arrowsIn = (arrows: Table) =>
  Object.entries(arrows).flatMap(([from, ends]) => ends.map(to => `${from} → ${to}`));

describe('the rooms', () => {
  test('every import between rooms follows an arrow', () => {
    expect(imports.length).toBeGreaterThan(500);
    const arrows = new Set(arrowsIn(allowedRooms));
    expect(said(crossings.filter(entry => !arrows.has(arrowOf(entry))))).toEqual([]);
  });

  test('every arrow is used', () => {
    const used = new Set(crossings.map(arrowOf));
    expect(arrowsIn(allowedRooms).filter(arrow => !used.has(arrow))).toEqual([]);
  });

  test('no arrows lead round in a circle', () => {
    expect(circleIn(new Map(Object.entries(allowedRooms)))).toBeNull();
  });

  test('a room that can only import types imports types and nothing else', () => {
    const narrow = crossings.filter(entry => typesOnly.includes(arrowOf(entry)));
    expect(said(narrow.filter(({ isTypeOnly }) => !isTypeOnly))).toEqual([]);
    const used = new Set(narrow.map(arrowOf));
    expect(typesOnly.filter(arrow => !used.has(arrow))).toEqual([]);
  });
});

describe('the files', () => {
  test('no imports lead round in a circle, also not those of types or those that wait until they are needed', () => {
    const arrows = new Map(
      files.map(file => [file, internal.filter(entry => entry.file === file).map(({ target }) => target)]),
    );
    expect(circleIn(arrows)).toBeNull();
  });

  test('what waits until it is needed is imported by its name', () => {
    const unnamed = files.filter(file => {
      const text = texts.get(file) ?? '';
      return [...text.matchAll(anyDynamicImport)].length !== [...text.matchAll(dynamicImport)].length;
    });
    expect(unnamed).toEqual([]);
  });

  test('the parts of a large command are its own', () => {
    // All commands can use a folder that no command is named after, like the table of all commands.
    const folderOf = (file: string) => {
      const folder = /^commands\/([^/]+)\//.exec(file)?.[1];
      return files.includes(`commands/${folder}.ts`) ? folder : undefined;
    };
    const wrong = internal.filter(({ file, target }) => {
      const folder = folderOf(target);
      return folder !== undefined && folderOf(file) !== folder && file !== `commands/${folder}.ts`;
    });
    expect(said(wrong)).toEqual([]);
  });

  test('an exported name is exported once, so that it means one thing', () => {
    const declared = /^export (?:abstract )?(?:async )?(?:function\*?|class|const|type|interface) (\w+)/gm;
    const names = files.flatMap(file => {
      const found = [...(texts.get(file) ?? '').matchAll(declared)].map(([, name = '']) => name);
      return [...new Set(found)];
    });
    expect(names.length).toBeGreaterThan(500);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  test('every export says what it is', () => {
    const bare = files.flatMap(file =>
      [...(texts.get(file) ?? '').matchAll(undocumented)].map(([, name]) => `${file}: ${name}`),
    );
    expect(bare).toEqual([]);
  });

  test('no call takes what can grow as its arguments, because these lie on the stack', () => {
    const calls = files.filter(file => /Math\.(min|max)\([^;]*?\.\.\./.test(texts.get(file) ?? ''));
    expect(calls).toEqual([]);
  });

  test('only cli and commands touch the process', () => {
    const touching = files.filter(file => /\bprocess\.\w/.test(texts.get(file) ?? ''));
    expect(touching.filter(file => !/^(cli\.ts|commands\/)/.test(file))).toEqual([]);
  });
});

/** An export on whose previous line no comment ends. */
const undocumented =
  /(?<!\*\/\n)^export (?:async |declare |abstract )*(?:function\*?|const|class|interface|type|enum) (\w+)/gm;

describe('the packages', () => {
  const touches = imports.filter(({ isPackage }) => isPackage);

  test('each is touched by its own rooms only', () => {
    const wrong = touches.filter(({ file, target }) => !packageRooms[target]?.includes(roomOf(file)));
    expect(said(wrong)).toEqual([]);
  });

  test('each that is installed with docmirror, or beside it, is needed', () => {
    const {
      dependencies,
      peerDependencies,
    }: Record<string, Record<string, string>> = JSON.parse(
      readFileSync(join(source, '..', 'package.json'), 'utf8'),
    );
    expect(Object.keys({ ...dependencies, ...peerDependencies }).sort()).toEqual(
      Object.keys(packageRooms).sort(),
    );
  });

  test('each is touched by all of them', () => {
    const used = new Set(touches.map(({ file, target }) => `${target} → ${roomOf(file)}`));
    expect(arrowsIn(packageRooms).filter(arrow => !used.has(arrow))).toEqual([]);
  });
});

/** The first circle in a set of arrows, written out, or null. */
function circleIn(arrows: ReadonlyMap<string, readonly string[]>): string | null {
  const done = new Set<string>();
  const walk = (at: string, path: readonly string[]): string | null => {
    if (path.includes(at)) return [...path.slice(path.indexOf(at)), at].join(' → ');
    if (done.has(at)) return null;
    for (const next of arrows.get(at) ?? []) {
      const circle = walk(next, [...path, at]);
      if (circle !== null) return circle;
    }
    done.add(at);
    return null;
  };
  for (const start of arrows.keys()) {
    const circle = walk(start, []);
    if (circle !== null) return circle;
  }
  return null;
}

/** Files that look into texts of others, and whose texts these are. */
const foreignTexts: Readonly<Record<string, string>> = {
  'audit/checkpoint.ts': 'a checkpoint, whose form C2SP says',
  'commands/flags.ts': 'the command line',
  'commands/query.ts': 'the command line',
  'commands/report.ts': 'the command line',
  'config/headers-file.ts': 'the headers file',
  'config/parse.ts': 'settings',
  'config/proxy.ts': 'settings',
  'contract/json.ts': 'records',
  'contract/time.ts': 'records',
  'publish/clickhouse.ts': 'errors of ClickHouse',
  'render/table.ts': 'any text: how wide it is',
  'serve/api.ts': 'what a client sends',
  'service/page.ts': 'answers of the service',
  'service/retry-policy.ts': 'answers of the service',
  'service/refusals.ts': 'undici, and answers of the service',
  'store/file/sqlite-errors.ts': 'errors of SQLite',
  'store/file/unfinished.ts': 'codes of the system',
  'store/read/query.ts': 'errors of SQLite',
  'store/read/records/filter.ts': 'what is searched for',
  'store/read/records/find.ts': 'records',
};

const names = '(?:message|reason|text|what|said|sentence|verdict)';
const looks = [
  String.raw`\b${names}\??\.(?:includes|startsWith|endsWith|indexOf|search|match|matchAll)\(`,
  String.raw`(?<!sqlite)\.(?:test|exec)\((?:\w+\??\.)*${names}\b`,
  String.raw`\b(?:message|reason|sentence|verdict)\??\.replace(?:All)?\(`,
].map(pattern => new RegExp(pattern));

test('nothing is decided by a sentence that docmirror wrote: codes and members say it', () => {
  const found = files.filter(file => {
    const lines = (texts.get(file) ?? '').split('\n');
    return lines.some(line => looks.some(look => look.test(line)));
  });
  expect(found.sort()).toEqual(Object.keys(foreignTexts).sort());
  const sentences = [
    "if (reason?.startsWith('page_failed'))",
    '/answered/.exec(error.message)',
    "what.includes('x')",
  ];
  for (const line of sentences) expect(looks.some(look => look.test(line))).toBe(true);
});
