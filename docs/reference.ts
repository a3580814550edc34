import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { commands, groups } from '../src/commands/index.ts';
import { main } from '../src/commands/main.ts';
import { settings } from '../src/config/settings.ts';
import type { JsonShape } from '../src/contract/shapes.ts';
import { exitCodes } from '../src/errors.ts';
import { outputs } from '../src/render/outputs/outputs.ts';
import { tableMeanings } from './table-meanings.ts';

// Writes docs/reference.md: npm run docs:reference

export const referencePath = join(import.meta.dirname, 'reference.md');

const intro = `# Reference

<!-- Written by "npm run docs:reference" from the program itself; a test checks that it is current. -->

This page lists all commands with their flags, all settings and all exit codes. Data goes to standard output, logs and progress to standard
error.

## JSON

With \`--json\`, a command prints one JSON value on one line; \`audit receipts\` and \`changes --format ndjson\` print one a line. A table below the
help of each command says what is in it. An object also has \`labels\` if some are set. Within 0.x, fields are added and never renamed or
removed, so ignore fields that you do not know. The package has a JSON Schema of each output: \`docmirror/schemas/sync.json\` and so on. If a
whole number of the service is too large for JavaScript, docmirror keeps all its digits.

If a command with \`--json\` fails before it has anything else to print, it prints this, and its exit code is not 0.
[troubleshooting.md](troubleshooting.md) explains the codes.

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
  return [intro, await commandSection(), settingSection(), exitSection(), tableSection()].join('\n');
}

async function commandSection(): Promise<string> {
  const names = Object.keys(commands).flatMap(name => {
    const group = Object.keys(groups).find(each => name.startsWith(`${each} `));
    const isFirst = Object.keys(commands).find(each => each.startsWith(`${group} `)) === name;
    return group !== undefined && isFirst ? [group, name] : [name];
  });
  const sections = await Promise.all(
    names.map(
      async name => `### \`docmirror ${name}\`\n\n\`\`\`text\n${await help(name)}\`\`\`\n${outputText(name)}`,
    ),
  );
  return ['## Commands\n', ...sections].join('\n');
}

/** The output of a command for programs: a table of fields for each form of it. */
function outputText(command: string): string {
  const output = outputs[command];
  if (output === undefined) return '';
  const { flags, about } = output;
  const shape: JsonShape = output.shape;
  const listed = new Map<string, string>();
  const tables = (shape.anyOf ?? [shape]).map(part => {
    const title = shape.anyOf && part.description !== undefined ? `${capital(part.description)}:` : null;
    const same = Object.keys(outputs).find(other => other !== command && isSame(outputs[other]?.shape, part));
    if (same !== undefined) return `${title ?? ''} the same as \`docmirror ${same} --json\`.\n`;
    const rows = rowsOf(part, part.items === undefined ? '' : '[]', listed);
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

/** A row for each field, also for those inside of it: `resources[].error.code`. Fields that were listed are not listed again. */
function rowsOf(shape: JsonShape, path: string, listed: Map<string, string>): string[] {
  const { fields, required } = fieldsOf(shape);
  // The introduction tells of the labels that any output can have.
  const shown = Object.entries(fields).filter(([name]) => name !== 'labels' || required.includes(name));
  return shown.flatMap(([name, field]) => {
    const at = `${path}${path === '' ? '' : '.'}${name}${field.items === undefined ? '' : '[]'}`;
    const inner = JSON.stringify(fieldsOf(field));
    const before = inner === none ? undefined : listed.get(inner);
    if (before === undefined) listed.set(inner, at);
    const type = `${typeText(field)}${required.includes(name) ? '' : ', can be left out'}`;
    const more = before === undefined ? '' : `; with the fields of \`${before}\``;
    return [
      `| \`${at}\` | ${type} | ${field.description}${more} |`,
      ...(before === undefined ? rowsOf(field, at, listed) : []),
    ];
  });
}

type Fields = Pick<Required<JsonShape>, 'required'> & { readonly fields: Record<string, JsonShape> };

const none = JSON.stringify({ fields: {}, required: [] });

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

async function help(name: string): Promise<string> {
  const stdout = new PassThrough();
  const { signal } = new AbortController();
  const io = { environment: {}, folder: '', stdout, stderr: stdout, signal, clock: () => new Date() };
  await main([...name.split(' '), '--help'], io);
  stdout.end();
  return textOf(stdout);
}

function settingSection(): string {
  const rows = Object.values(settings).map(
    ({ variable, flag, default: value, help: meaning }) =>
      `| \`${variable}\` | \`${flag}\` | ${value ? `\`${value}\`` : 'none'} | ${cell(meaning)} |`,
  );
  const about =
    'A flag wins over the file that `--env-file` names, which wins over the environment, which wins over the default. The three token\nsettings are one group: if the file gives a token in any form, no token of the environment is used. The password of ClickHouse and its\nfile are one group, too. An empty variable says nothing.\n';
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
  return [
    '## Exit codes\n',
    '| code | meaning |',
    '|---|---|',
    ...rows,
    '',
    '[troubleshooting.md](troubleshooting.md) explains each error and says what to do.\n',
  ].join('\n');
}

function tableSection(): string {
  const rows = Object.entries(tableMeanings)
    .filter(([name]) => !name.startsWith('_'))
    .map(([name, { about }]) => `| [\`${name}\`](tables.md#${name}) | ${cell(about)} |`);
  return ['## Tables and views\n', '| name | contents |', '|---|---|', ...rows, ''].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

if (import.meta.main) writeFileSync(referencePath, await referenceText());
