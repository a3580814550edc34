import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, flagsOf } from '../src/commands/command.ts';
import type { Flag } from '../src/commands/flags.ts';
import { loadCommands } from '../src/commands/index.ts';
import { argumentWord } from '../src/commands/parser.ts';
import { settings } from '../src/config/settings.ts';
import type { JsonShape } from '../src/contract/shapes.ts';
import { advice, exitCodes } from '../src/errors.ts';
import { outputs } from '../src/render/outputs/outputs.ts';

// Writes docs/reference.md: npm run docs:reference

export const referencePath = join(import.meta.dirname, 'reference.md');

const intro = `# Reference

<!-- Written by "npm run docs:reference" from the program itself; a test checks that it is current. -->

This page lists all commands with their flags and outputs, all settings, exit codes and errors; [tables.md](tables.md) lists the tables. \`docmirror COMMAND --help\` says the same. Every command has
\`--env-file FILE\`: settings as lines \`NAME=value\`, which count more than the environment. Data goes to standard output, logs and progress
to standard error.

## JSON

With \`--json\`, a command prints one JSON value on one line; \`audit receipts\` and \`changes --format ndjson\` print one a line. A table below the
help of each command says what is in it. An object also has \`labels\` if some are set. Within 0.x, fields are added and never renamed or
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
  return [intro, await commandSection(), settingSection(), exitSection(), errorSection()].join('\n');
}

async function commandSection(): Promise<string> {
  const sections = (await loadCommands()).map(({ name, description, command }) =>
    [`### \`docmirror ${name}\`\n`, `${description}\n`, usageOf(name, command), outputText(name)].join('\n'),
  );
  return ['## Commands\n', ...sections].join('\n');
}

/** The arguments and flags of a command, its settings, an example each, and what else its help says. */
function usageOf(name: string, command: Command): string {
  const args = Object.values(command.arguments ?? {});
  const words = ['docmirror', name, ...args.map(argumentWord), '[flags]'].join(' ');
  const isOwn = (flag: string) => !command.settings.some(key => settings[key].flag === flag);
  const own = flagsOf(command).filter(flag => isOwn(flag.name) && !everywhere.includes(flag.name));
  const rows = [
    ...args.map(flag => `| \`${argumentWord(flag)}\` | ${cell(helpOf(flag))} |`),
    ...own.map(({ name: flag, flag: { valueName, ...more } }) => {
      const value = valueName === undefined ? '' : ` ${valueName}`;
      return `| \`${flag}${value}\` | ${cell(helpOf(more))} |`;
    }),
  ];
  const ofSettings = command.settings.map(key => `\`${settings[key].flag}\``).join(', ');
  const examples = command.examples.map(({ line, meaning }) => `${line}   # ${meaning}`);
  const exits = command.exitCodes === undefined ? [] : [`Exit codes: ${command.exitCodes}`];
  return [
    `\`\`\`text\n${words}\n\`\`\`\n`,
    ...(rows.length === 0 ? [] : ['| | |', '|---|---|', ...rows, '']),
    ...(ofSettings === '' ? [] : [`[Settings](#settings): ${ofSettings}\n`]),
    ...[...(command.notes ?? []), ...exits].map(text => `${text}\n`),
    ...(examples.length === 0 ? [] : [`\`\`\`sh\n${examples.join('\n')}\n\`\`\`\n`]),
  ].join('\n');
}

/** Flags that the introduction tells of. */
const everywhere: readonly string[] = ['--json', '--env-file'];

function helpOf({ help, choices, default: fallback }: Omit<Flag<unknown>, 'read'>): string {
  const words =
    choices === undefined || choices.every(word => help.includes(word)) ? [] : [choices.join(', ')];
  const all = [...words, ...(fallback === undefined ? [] : [`default ${fallback}`])];
  return all.length === 0 ? help : `${help} (${all.join('; ')})`;
}

/** The output of a command for programs: a table of fields for each form of it. */
function outputText(command: string): string {
  const output = outputs[command];
  if (output === undefined) return '';
  const { flags, about } = output;
  const shape: JsonShape = output.shape;
  const tables = (shape.anyOf ?? [shape]).map(part => {
    const title = shape.anyOf && part.description !== undefined ? `${capital(part.description)}:` : null;
    const same = Object.keys(outputs).find(other => other !== command && isSame(outputs[other]?.shape, part));
    if (same !== undefined) return `${title ?? ''} the same as \`docmirror ${same} --json\`.\n`;
    const rows = rowsOf(part, part.items === undefined ? '' : '[]', command);
    return [
      ...(title === null ? [] : [title, '']),
      '| field | type | meaning |',
      '|---|---|---|',
      ...rows,
      '',
    ].join('\n');
  });
  const linked = about.replace(/docs\/(\w+\.md)/g, '[$1]($1)');
  return `\nWith \`${flags}\`: ${linked}\n\n${tables.join('\n')}`;
}

const isSame = (one: JsonShape | undefined, other: JsonShape) =>
  other.properties !== undefined && JSON.stringify(one?.properties) === JSON.stringify(other.properties);

/** A row for each field, also for those inside of it: `resources[].error.code`. What another object has, too, is not listed again. */
function rowsOf(shape: JsonShape, path: string, command: string, left: readonly string[] = []): string[] {
  const { fields, required } = fieldsOf(shape);
  // The introduction tells of the labels that any output can have.
  const shown = Object.entries(fields).filter(
    ([name]) => !left.includes(name) && (name !== 'labels' || required.includes(name)),
  );
  return shown.flatMap(([name, field]) => {
    const at = `${path}${path === '' ? '' : '.'}${name}${field.items === undefined ? '' : '[]'}`;
    const inner = fieldsOf(field).fields;
    const like = listed.findLast(other => sharedBy(other.fields, inner).length >= sharedMin(inner));
    const same = like === undefined ? [] : sharedBy(like.fields, inner);
    if (Object.keys(inner).length > 0) listed.push({ at: `${command}: ${at}`, fields: inner });
    const type = `${typeText(field)}${required.includes(name) ? '' : ', can be left out'}`;
    const place = like?.at.replace(`${command}: `, '');
    const more =
      like === undefined ? '' : `; ${same.length} fields are as in \`${place}\`${without(like.fields, same)}`;
    return [`| \`${at}\` | ${type} | ${field.description}${more} |`, ...rowsOf(field, at, command, same)];
  });
}

type Members = Readonly<Record<string, JsonShape>>;

/** Objects that were listed, and where. */
const listed: { readonly at: string; readonly fields: Members }[] = [];

/** A few fields are listed again: that is shorter than to look them up. */
const sharedMin = (fields: Members) => Math.max(2, Object.keys(fields).length / 2);

function sharedBy(one: Members, other: Members): string[] {
  const isShared = (name: string) => JSON.stringify(one[name]) === JSON.stringify(other[name]);
  return Object.keys(other).filter(name => one[name] !== undefined && isShared(name));
}

function without(fields: Members, same: readonly string[]): string {
  const left = Object.keys(fields).filter(name => !same.includes(name));
  return left.length === 0 ? '' : `, without ${left.map(name => `\`${name}\``).join(', ')}`;
}

type Fields = Pick<Required<JsonShape>, 'required'> & { readonly fields: Record<string, JsonShape> };

/** The fields of an object, of the items of a list, or of any of several shapes. */
function fieldsOf({ items, anyOf, properties = {}, required = [] }: JsonShape): Fields {
  if (items !== undefined) return fieldsOf(items);
  const [first, ...rest] = (anyOf ?? []).map(fieldsOf);
  return rest.reduce(
    (all, each) => ({
      fields: { ...each.fields, ...all.fields },
      required: all.required.filter(name => each.required.includes(name)),
    }),
    first ?? { fields: { ...properties }, required },
  );
}

function typeText({ type, enum: words }: JsonShape): string {
  const types = [type ?? 'any'].flat();
  if (words === undefined) return types.join(' or ');
  const named = words.filter(word => word !== null).map(word => `\`${word}\``);
  return [named.join(', '), ...(types.includes('null') ? ['null'] : [])].join(' or ');
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
    'A flag wins over the file that `--env-file` names, which wins over the environment, which wins over the default. The three token\nsettings are one group: if the file gives a token in any form, no token of the environment is used. The password of ClickHouse and its\nfile are one group, too. An empty variable says nothing. Relative\npaths in the file go by its folder.\n';
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
