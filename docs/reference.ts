import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonShape, outputFlags, shapeOf } from '../build/package-files.ts';
import { type Command, flagsOf } from '../src/commands/command.ts';
import { type FlagHelp, mirrorSettings, runSettings } from '../src/commands/flags.ts';
import { argumentWord } from '../src/commands/help.ts';
import { loadCommands } from '../src/commands/index.ts';
import { type SettingName, settings } from '../src/config/settings.ts';
import { advice, exitCodes } from '../src/errors.ts';
import { outputs } from '../src/render/outputs.ts';

// Writes docs/reference.md: npm run docs:reference

export const referencePath = join(import.meta.dirname, 'reference.md');

const intro = `# Reference

<!-- Written by "npm run docs:reference" from the program itself; a test checks that it is current. -->

This page lists all commands with their flags and outputs, all settings, exit codes and errors; [tables.md](tables.md) lists the tables.
\`docmirror COMMAND --help\` says the same, with examples. Every command has \`--env-file FILE\`: settings as lines \`NAME=value\`, which count more than the
environment. Every command that uses a mirror has \`--database\`, \`--labels\` and \`--log-level\`. Data goes to standard output, logs and progress to
standard error.

## JSON

With \`--json\`, a command prints one JSON value on one line; \`audit receipts\` and \`changes --format ndjson\` print one a line,
and \`runs\` prints an array. The members are listed with each command. A \`time\` is a text in UTC (ISO 8601), \`hex\` is lower-case hexadecimal digits, and a name with \`Ms\` at its end
is in milliseconds. An object also has \`labels\` if some are set. Within 0.x, fields are added and never renamed or
removed, so ignore fields that you do not know. The package has a JSON Schema of each output: \`docmirror/schemas/sync.json\` and so on. If a
whole number of the service is too large for JavaScript, docmirror keeps all its digits.

If a command with \`--json\` fails before it has anything else to print, it prints this, and its exit code is not 0.
The [errors](#errors) have the codes.

\`\`\`json
{"error":{"code":"mirror_busy","message":"Another run is using docmirror.sqlite. Wait until it is done, or stop it."}}
\`\`\`
`;

const exitMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'done; every list completed',
  failed: 'failed',
  usage: "an unknown or unusable flag or setting, or a file that is not docmirror's",
  partial:
    'partial: a list failed while another did not, records were rejected, removals were withheld, completeness is unproven, or the share could not be made',
  difference: 'a difference or an unhealthy state was found',
  busy: 'another run is using this mirror',
  unauthorized: 'the service refused the token (401 or 403 on every list)',
  sighup: 'ended by SIGHUP; what was applied stays',
  sigint: 'ended by SIGINT; what was applied stays',
  sigterm: 'ended by SIGTERM; what was applied stays',
};

/** The text of docs/reference.md. */
export async function referenceText(): Promise<string> {
  listed.length = 0;
  listedAt.clear();
  return [intro, await commandSection(), settingSection(), exitSection(), errorSection()].join('\n');
}

async function commandSection(): Promise<string> {
  const paragraphs = (await loadCommands()).flatMap(({ name, description, command }) => [
    `### \`docmirror ${name}\``,
    description,
    usageOf(command),
    settingsOf(name, command.settings),
    ...(command.notes ?? []),
    command.exitCodes === undefined ? '' : `Exit codes: ${command.exitCodes}`,
    ...outputOf(name),
  ]);
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

/** The output of a command for programs: a list of members for each form of it. */
function outputOf(command: string): string[] {
  if (!(command in outputs)) return [];
  const shape = shapeOf(command);
  const forms = (shape.anyOf ?? [shape]).flatMap(part => {
    const title = shape.anyOf && part.description !== undefined ? `${capital(part.description)}:` : '';
    const same = Object.keys(outputs).find(other => other !== command && isSame(shapeOf(other), part));
    if (same !== undefined) return [`${title} the same as \`docmirror ${same} --json\`.`];
    return [title, membersOf(part, title === '' ? `\`${command}\`` : `“${title.slice(0, -1)}”`).join('\n')];
  });
  return [`With \`${outputFlags(command)}\`:`, ...forms];
}

const isSame = (one: JsonShape, other: JsonShape) =>
  other.properties !== undefined && JSON.stringify(one.properties) === JSON.stringify(other.properties);

type Members = Readonly<Record<string, JsonShape>>;

/** Objects that were listed, and where. */
const listed: { readonly at: string; readonly members: Members }[] = [];

/** A line for each member, and below it those inside of it. What an earlier object has, too, is not listed again. */
function membersOf(shape: JsonShape, at: string, indent = ''): string[] {
  const { members, required } = insideOf(shape);
  const like = listed.find(other => sharedBy(other.members, members).length >= sharedMin(members));
  const shared = like === undefined ? [] : sharedBy(like.members, members);
  if (Object.keys(members).length > 0) listed.push({ at, members });
  const isLeftOut = shared.some(name => !required.includes(name));
  // The introduction tells of the labels that any output can have.
  const own = Object.entries(members).filter(
    ([name]) => !shared.includes(name) && (name !== 'labels' || required.includes(name)),
  );
  const lines = own.flatMap(([name, member]) => {
    const meaning = meaningOf(member);
    const type = typeOf(member, required.includes(name));
    const line = `- \`${name}\`${type}${meaning === '' ? '' : `: ${meaning}`}`;
    const before = lineMax < line.length ? listedAt.get(line) : undefined;
    if (before !== undefined) return [`${indent}- \`${name}\`: as in ${before}`];
    listedAt.set(line, at);
    const [first = '', ...more] = membersOf(member, `\`${name}\` of ${at}`, `${indent}  `);
    const isAll = first.includes('- all as in') && more.length === 0;
    return isAll ? [`${indent}${line}; ${first.replace(/^ *- /, '')}`] : [indent + line, first, ...more];
  });
  return (
    like === undefined
      ? lines
      : [`${indent}- ${likeText(like, shared)}${isLeftOut ? '; some can be left out' : ''}`, ...lines]
  ).filter(line => line !== '');
}

/** A longer line that was there before only says where. */
const lineMax = 100;
const listedAt = new Map<string, string>();

/** A few members are listed again: that is shorter than to look them up. */
const sharedMin = (members: Members) => Math.max(2, Object.keys(members).length / 2);

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

/** The type in brackets: a text that is neither null nor left out has none, nor has an object that is listed below. */
function typeOf(
  { type, enum: words, description, properties, items }: JsonShape,
  isRequired: boolean,
): string {
  const types = [type ?? 'any value'].flat();
  const named = words
    ?.filter(word => word !== null)
    .map(word => `\`${word}\``)
    .join(', ');
  const text = description?.endsWith(timeEnd) ? 'time' : hexEnd.test(description ?? '') ? 'hex' : 'text';
  const kind = items !== undefined ? 'list' : types.includes('string') ? (named ?? text) : types[0];
  const isPlain = kind === 'text' || (kind === 'object' && properties !== undefined);
  const all = [
    ...(isPlain ? [] : [kind]),
    ...(types.includes('null') ? ['or null'] : []),
    ...(isRequired ? [] : ['optional']),
  ];
  return all.length === 0 ? '' : ` (${all.join(' ').replace(' optional', ', optional')})`;
}

const timeEnd = ', in UTC (ISO 8601)';
const hexEnd = / \(\d+ hexadecimal digits\)$/;

function meaningOf({ description = '' }: JsonShape): string {
  return description.replace(timeEnd, '').replace(hexEnd, '');
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function settingSection(): string {
  const rows = Object.values(settings).map(
    ({ variable, flag, default: value, help: meaning }) =>
      `| \`${variable}\` | \`${flag}\` | ${value ? `\`${value}\`` : 'none'} | ${cell(meaning)} |`,
  );
  const about =
    'A flag wins over the file that `--env-file` names, which wins over the environment, which wins over the default. The three token\nsettings are one group: if the file gives a token in any form, no token of the environment is used. The password of ClickHouse and its\nfile are one group, too. An empty variable says nothing. Relative paths in the file go by its folder.\n';
  return [
    '## Settings\n',
    about,
    '| variable | flag | default | meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function exitSection(): string {
  const rows = Object.entries(exitMeanings).map(([name, meaning]) => {
    const [, code] = Object.entries(exitCodes).find(([each]) => each === name) ?? [];
    return `| \`${code}\` | ${meaning} |`;
  });
  return ['## Exit codes\n', '| code | meaning |', '|---|---|', ...rows, ''].join('\n');
}

/** What to do about each error, as `docmirror help CODE` says it. */
function errorSection(): string {
  const rows = Object.entries(advice).map(([code, words]) => {
    const inline = words.replace(/\n +(docmirror .*)/g, ' `$1`');
    return `| \`${code}\` | ${cell(inline)} |`;
  });
  return ['## Errors\n', '| code | what to do |', '|---|---|', ...rows, ''].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

if (import.meta.main) writeFileSync(referencePath, await referenceText());
