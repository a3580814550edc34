import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonShape, outputFlags, shapeOf } from '../build/package-files.ts';
import advice from '../src/advice.json' with { type: 'json' };
import { type Command, flagsOf } from '../src/commands/command.ts';
import { type FlagHelp, mirrorSettings, runSettings } from '../src/commands/flags.ts';
import { argumentWord, loadCommands } from '../src/commands/index.ts';
import { type SettingName, settings } from '../src/config/settings.ts';
import { lists } from '../src/contract/lists.ts';
import { exitMeanings } from '../src/errors.ts';
import { findingHelp, findingWords } from '../src/findings.ts';
import { outputs } from '../src/render/outputs.ts';

// Writes docs/reference.md: npm run docs:reference

export const referencePath = join(import.meta.dirname, 'reference.md');
export const troubleshootingPath = join(import.meta.dirname, 'troubleshooting.md');

const intro = `# Reference

<!-- Written by "npm run docs:reference" from the program itself; a test checks that it is current. -->

This page lists all commands with their flags and outputs, all settings, exit codes and errors; [tables.md](tables.md) lists the tables.
\`docmirror COMMAND --help\` has examples, too. Every command has \`--env-file FILE\`, a file of [settings](#settings) as lines \`NAME=value\`.
Every command that uses a mirror has \`--database\`, \`--labels\` and \`--log-level\`. Data goes to standard output, logs and progress to standard
error.

## JSON

With \`--json\`, a command prints one JSON value on one line; \`audit receipts\` and \`changes --format ndjson\` print one a line,
and \`runs\` prints an array. The members are listed with each command. A member is a text if nothing else is said. The end of a name also says
the type: \`Id\`, \`No\` and \`Count\` are integers, \`Ms\` milliseconds, \`At\` and \`Since\` times; \`is…\` is true or false. A \`resource\` is a list. A \`mirrorId\` is a UUID.
A \`time\` is in UTC (ISO 8601), \`hex\` is lower-case hexadecimal digits. An object also has \`labels\` if some are set. Within 0.x, members are added and never renamed or
removed, so ignore those that you do not know. The package has a JSON Schema of each output: \`docmirror/schemas/sync.json\` and so on. If a
whole number of the service is too large for JavaScript, docmirror keeps all its digits.

If a command with \`--json\` fails before it has anything else to print, it prints this, and its exit code is not 0:

\`\`\`json
{"error":{"code":"mirror_busy","message":"Another run is using docmirror.sqlite. Wait until it is done, or stop it."}}
\`\`\`
`;

/** The text of docs/reference.md. */
export async function referenceText(): Promise<string> {
  listed.length = 0;
  listedAt.clear();
  return [intro, await commandSection(), settingSection(), exitSection(), errorSection()].join('\n');
}

async function commandSection(): Promise<string> {
  const paragraphs = (await loadCommands()).flatMap(
    ({ name, description, notes = [], exitCodes, command }) => [
      `### \`docmirror ${name}\``,
      description,
      usageOf(command),
      settingsOf(name, command.settings),
      ...notes,
      exitCodes === undefined ? '' : `Exit codes: ${exitCodes}`,
      ...outputOf(name),
    ],
  );
  const shown = ['## Commands', ...paragraphs].filter(text => text !== '');
  return shown.map(text => `${text}\n`).join('\n');
}

/** The arguments of a command, and the flags that are no settings. */
function usageOf(command: Command): string {
  const elsewhere = ['--json', '--env-file', ...command.settings.map(key => settings[key].flag)];
  const flags = [...flagsOf(command)].filter(([name]) => !elsewhere.includes(name));
  return [
    ...Object.values(command.arguments ?? {}).map(each => `- \`${argumentWord(each)}\`: ${helpOf(each)}`),
    ...flags.map(([name, flag]) => `- \`${[name, flag.valueName ?? []].flat().join(' ')}\`: ${helpOf(flag)}`),
  ].join('\n');
}

/** The settings of a command besides those of every command. `watch` and `doctor` have those of `sync`, too. */
function settingsOf(name: string, names: readonly SettingName[]): string {
  const isRun = name !== 'sync' && runSettings.every(key => names.includes(key));
  const everywhere: readonly SettingName[] = isRun ? [...mirrorSettings, ...runSettings] : mirrorSettings;
  const words = names.filter(key => !everywhere.includes(key)).map(key => `\`${settings[key].flag}\``);
  const all = [...(isRun ? ['those of `sync`'] : []), ...words];
  return all.length === 0 ? '' : `[Settings](#settings): ${all.join(', ')}`;
}

function helpOf({ help, choices, default: fallback }: FlagHelp): string {
  const words =
    choices === undefined || choices.every(word => help.includes(word)) ? [] : [choices.join(', ')];
  const all = [...words, ...(fallback === undefined ? [] : [`default ${fallback}`])];
  return all.length === 0 ? help : `${help} (${all.join('; ')})`;
}

/** Outputs that few programs read. */
const bySchemaAlone = ['backup', 'erase', 'rejected', 'show'];

/** The output of a command for programs: a list of members for each form of it. */
function outputOf(command: string): string[] {
  if (!(command in outputs)) return [];
  const flags = `With \`${outputFlags(command)}\`:`;
  const form = `the schema \`docmirror/schemas/${command.replace(' ', '-')}.json\` has the members`;
  if (command === 'audit receipts')
    return [`${flags} ${form}, and [audit.md](audit.md#the-form-of-receipts) tells of the hashes.`];
  if (bySchemaAlone.includes(command)) return [`${flags} ${form}.`];
  const shape = shapeOf(command);
  const forms = (shape.anyOf ?? [shape]).flatMap(part => {
    const title = shape.anyOf && part.description !== undefined ? `${capital(part.description)}:` : '';
    const same = Object.keys(outputs).find(other => other !== command && isSame(shapeOf(other), part));
    if (same !== undefined) return [`${title} the same as \`docmirror ${same} --json\`.`];
    return [title, membersOf(part, title === '' ? `\`${command}\`` : `“${title.slice(0, -1)}”`).join('\n')];
  });
  return [flags, ...forms];
}

const isSame = (one: JsonShape, other: JsonShape) =>
  other.properties !== undefined && JSON.stringify(one.properties) === JSON.stringify(other.properties);

type Members = Readonly<Record<string, JsonShape>>;

/** Objects that were listed, and where. */
const listed: { readonly at: string; readonly members: Members }[] = [];

/**
 * A line for each member, and below it those inside of it. Neighbours of which the same is said are on one line. What an earlier object
 * has, too, is not listed again.
 */
function membersOf(shape: JsonShape, at: string, indent = ''): string[] {
  const { members, required } = insideOf(shape);
  const likest = listed.toSorted((a, b) => likeness(b.members, members) - likeness(a.members, members))[0];
  const isLike = likest !== undefined && sharedBy(likest.members, members).length >= sharedMin(members);
  const like = isLike ? likest : undefined;
  const shared = like === undefined ? [] : sharedBy(like.members, members);
  if (Object.keys(members).length > 0) listed.push({ at, members });
  const isLeftOut = shared.some(name => !required.includes(name));
  // The introduction tells of the labels that any output can have.
  const own = Object.entries(members).filter(
    ([name]) => !shared.includes(name) && (name !== 'labels' || required.includes(name)),
  );
  const told: { readonly names: string[]; readonly words: string; readonly inside: string[] }[] = [];
  for (const [name, member] of own) {
    const { words, inside } = wordsOn(name, member, { isRequired: required.includes(name), at, indent });
    const last = told.at(-1);
    if (last?.words === words && last.inside.length + inside.length === 0) last.names.push(`\`${name}\``);
    else told.push({ names: [`\`${name}\``], words, inside });
  }
  const lines: string[] = [];
  let isOpen = false;
  for (const { names, words, inside } of told) {
    const text = `${names.join(', ')}${words}`;
    // Neighbours of which only the type is said are on one line.
    const isShort = inside.length === 0 && !words.includes(': ');
    if (isShort && isOpen) lines.push(`${lines.pop()}; ${text}`);
    else lines.push(`${indent}- ${text}`, ...inside);
    isOpen = isShort;
  }
  return like === undefined
    ? lines
    : [`${indent}- ${likeText(like, shared)}${isLeftOut ? '; some can be left out' : ''}`, ...lines];
}

/** What is said of a member, and the lines of those inside of it. */
function wordsOn(
  name: string,
  member: JsonShape,
  { isRequired, at, indent }: { isRequired: boolean; at: string; indent: string },
): { words: string; inside: string[] } {
  const meaning = meaningOf(member);
  const words = `${typeOf(name, member, isRequired)}${meaning === '' ? '' : `: ${meaning}`}`;
  const line = `${name}${words}`;
  const before = lineMax < line.length ? listedAt.get(line) : undefined;
  if (before !== undefined) return { words: `: as in ${before}`, inside: [] };
  listedAt.set(line, at);
  const inside = membersOf(member, `\`${name}\` of ${at}`, `${indent}  `);
  const [first = ''] = inside;
  const isAll = inside.length === 1 && first.includes('- all as in');
  return isAll ? { words: `${words}; ${first.replace(/^ *- /, '')}`, inside: [] } : { words, inside };
}

/** A longer line that was there before only says where. */
const lineMax = 60;
const listedAt = new Map<string, string>();

/** A few members are listed again: that is shorter than to look them up. */
const sharedMin = (members: Members) => Math.max(2, Object.keys(members).length / 2);

/** What two objects share counts most, and then what need not be left out. */
function likeness(one: Members, other: Members): number {
  const shared = sharedBy(one, other).length;
  return shared - (Object.keys(one).length - shared) / 100;
}

function sharedBy(one: Members, other: Members): string[] {
  const isShared = (name: string) => JSON.stringify(one[name]) === JSON.stringify(other[name]);
  return Object.keys(other).filter(name => one[name] !== undefined && isShared(name));
}

function likeText({ at, members }: (typeof listed)[number], shared: readonly string[]): string {
  const left = Object.keys(members).filter(name => !shared.includes(name));
  const named = (names: readonly string[]) => names.map(name => `\`${name}\``).join(', ');
  if (left.length > shared.length) return `${named(shared)}: as in ${at}`;
  return `all as in ${at}${left.length === 0 ? '' : ` but ${named(left)}`}`;
}

/** The members of an object, of the items of a list, or of any of several shapes. */
function insideOf({ items, anyOf, properties = {}, required = [] }: JsonShape): {
  readonly members: Members;
  readonly required: readonly string[];
} {
  if (items !== undefined) return insideOf(items);
  const [first, ...rest] = (anyOf ?? []).map(insideOf);
  return rest.reduce(
    (all, each) => ({
      members: { ...each.members, ...all.members },
      required: all.required.filter(name => each.required.includes(name)),
    }),
    first ?? { members: properties, required },
  );
}

/** What a name says of its type, as the introduction explains. */
const namedKinds: readonly (readonly [RegExp, string])[] = [
  [/^mirrorId$/, 'text'],
  [/(Id|No|Ms|Count)$/, 'integer'],
  [/(^at|At|Since)$/, 'time'],
  [/^is[A-Z]/, 'boolean'],
];

/**
 * The type in brackets: a text that is neither null nor left out has none, nor has an object that is listed below, nor what the name says.
 */
function typeOf(
  name: string,
  { type, enum: words, description, properties, items }: JsonShape,
  isRequired: boolean,
): string {
  const types = [type ?? 'any value'].flat();
  const named = words
    ?.filter(word => word !== null)
    .map(word => `\`${word}\``)
    .join(', ');
  const text = timeEnd.test(description ?? '') ? 'time' : hexEnd.test(description ?? '') ? 'hex' : 'text';
  // The introduction says what a resource is.
  if (name === 'resource' && words?.join() === Object.keys(lists).join() && isRequired) return '';
  const kind = items !== undefined ? 'list' : types.includes('string') ? (named ?? text) : types[0];
  const [, namedKind = 'text'] = namedKinds.find(([pattern]) => pattern.test(name)) ?? [];
  const isPlain = kind === namedKind || (kind === 'object' && properties !== undefined);
  const all = [
    ...(isPlain ? [] : [kind]),
    ...(types.includes('null') ? ['nullable'] : []),
    ...(isRequired ? [] : ['optional']),
  ];
  return all.length === 0 ? '' : ` (${all.join(', ')})`;
}

const timeEnd = /(^|, )in UTC \(ISO 8601\)$/;
const hexEnd = / \(\d+ hexadecimal digits\)$/;

function meaningOf({ description = '' }: JsonShape): string {
  return description.replace(timeEnd, '').replace(hexEnd, '');
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function settingSection(): string {
  const lines = Object.values(settings).map(
    ({ variable, flag, default: value, help: meaning }) =>
      `- \`${variable}\`, \`${flag}\`${value ? ` (\`${value}\`)` : ''}: ${meaning}`,
  );
  const about =
    'A flag wins over the file that `--env-file` names, which wins over the environment, which wins over the default (in brackets). The three\ntoken settings are one group: if the file gives a token in any form, no token of the environment is used. The password of ClickHouse and\nits file are one group, too. An empty variable says nothing. Relative paths in the file go by its folder.\n';
  return ['## Settings\n', about, ...lines, ''].join('\n');
}

function exitSection(): string {
  const rows = Object.entries(exitMeanings).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`);
  return ['## Exit codes\n', '| code | meaning |', '|---|---|', ...rows, ''].join('\n');
}

/** What to do about each error, as `docmirror help CODE` says it. */
function errorSection(): string {
  const lines = Object.entries(advice).map(
    ([code, words]) => `- \`${code}\`: ${words.replace(/\n +(docmirror .*)/g, ' `$1`')}`,
  );
  return ['## Errors\n', ...lines, ''].join('\n');
}

const [begin, end] = ['<!-- Written by "npm run docs:reference" from src/findings.ts. -->', '<!-- End. -->'];

/** What a service's owner can mend, by the part of docs/services.md. */
const slips: Readonly<Record<string, string>> = {
  order_unstable: 'no-unique-sort-key',
  records_repeated: 'no-unique-sort-key',
  end_not_shown: 'a-total-of-joined-rows',
  total_exceeds_records: 'a-total-of-joined-rows',
  pages_short: 'limit-on-joined-rows',
  id_twice: 'limit-on-joined-rows',
  total_is_no_count: 'a-total-that-is-deduced-or-capped',
  records_beyond_total: 'a-total-that-is-deduced-or-capped',
  page_contradicts_total: 'pages-cut-at-an-older-count',
};

/** docs/troubleshooting.md with an entry for each code of a finding. */
export function troubleshootingText(): string {
  const text = readFileSync(troubleshootingPath, 'utf8');
  const lines = Object.entries(findingWords).map(([code, { others }]) => {
    // A run says which of several sentences is so. One is enough to find the entry.
    const help = (findingHelp(code) ?? '')
      .replace(/; or [^\n]*?(?=\. |\.\n|\.$)/, '')
      .replaceAll(/\n +(docmirror .*)/g, ' `$1`');
    const slip = slips[code];
    const shown = `${help.replace(/ If this stays, tell those who run the service\.$/, '')}${slip === undefined ? '' : ` [Remedy](services.md#${slip})`}`;
    const more = others === undefined ? '' : ` (${others.map(name => `\`${name}\``).join(', ')})`;
    return `- <a id="${code}"></a>\`${code}\`${more}: ${shown}`;
  });
  const [before = '', rest = ''] = text.split(begin);
  return [before, begin, '\n\n', lines.join('\n'), '\n\n', end, rest.split(end)[1]].join('');
}

if (import.meta.main) {
  writeFileSync(referencePath, await referenceText());
  writeFileSync(troubleshootingPath, troubleshootingText());
}
