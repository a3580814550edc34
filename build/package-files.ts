import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flagsOf } from '../src/commands/command.ts';
import type { FlagHelp } from '../src/commands/flags.ts';
import { argumentWord, loadCommands, purpose } from '../src/commands/index.ts';
import { settings } from '../src/config/settings.ts';
import { exitMeanings } from '../src/errors.ts';
import { failureOutput, outputs } from '../src/render/outputs.ts';
import { labels } from '../src/store/tables/run.ts';
import { version } from '../src/version.ts';

// Writes the manual page and the JSON Schemas of the package, man/ and schemas/: npm run build

/** The manual page in the macros of man(7), made from the table of commands and that of settings. */
export async function manText(): Promise<string> {
  const lines = [
    `.TH DOCMIRROR 1 "" "docmirror ${version}" "User Commands"`,
    // Names that are broken by a hyphen can't be copied.
    '.nh',
    '.SH NAME',
    `docmirror \\- ${escaped(purpose.replace(/^K/, 'k').replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    '.B docmirror',
    '.I COMMAND',
    '[\\fIflags\\fR]',
    '.SH DESCRIPTION',
    'Without a command, docmirror shows the state of the mirror, or which settings are missing if there is none yet.',
    'Data goes to standard output, logs and progress to standard error.',
    '.SH COMMANDS',
    ...(await loadCommands()).flatMap(commandLines),
    '.SH ENVIRONMENT',
    'A flag wins over the file that \\-\\-env\\-file names, which wins over a variable, which wins over the default.',
    ...Object.values(settings).flatMap(({ variable, flag, default: fallback, help }) =>
      item(variable, `${help} (${flag}${fallback ? `, default ${fallback}` : ''}).`),
    ),
    '.SH EXIT STATUS',
    ...Object.entries(exitMeanings).flatMap(([code, meaning]) => item(code, `${meaning}.`)),
  ];
  return `${lines.join('\n')}\n`;
}

function commandLines(found: Awaited<ReturnType<typeof loadCommands>>[number]): string[] {
  const { name, description, examples, notes = [], exitCodes, command } = found;
  const words = Object.values(command.arguments ?? {});
  return [
    `.SS "${[`docmirror ${name}`, ...words.map(argumentWord)].join(' ')}"`,
    escaped(description),
    ...words.flatMap(({ valueName = '', help }) => item(valueName, `${help}.`)),
    ...[...flagsOf(command)].flatMap(flagLines),
    ...notes.flatMap(note => ['.PP', escaped(note)]),
    ...(exitCodes === undefined ? [] : ['.PP', escaped(`Exit codes: ${exitCodes}`)]),
    '.PP',
    'Examples:',
    ...Object.entries(examples).flatMap(([line, meaning]) => item(line, meaning)),
  ];
}

function flagLines([name, { valueName, help, choices, default: fallback }]: readonly [
  string,
  FlagHelp,
]): string[] {
  const notes = [
    ...(choices === undefined || help.includes(choices.join(', ')) ? [] : [choices.join(', ')]),
    ...(fallback === undefined ? [] : [`default ${fallback}`]),
  ];
  const text = notes.length === 0 ? help : `${help} (${notes.join('; ')})`;
  return item(valueName === undefined ? name : `${name} ${valueName}`, text);
}

function item(term: string, text: string): string[] {
  return ['.TP', `\\fB${escaped(term)}\\fR`, escaped(text)];
}

/** A text as troff takes it literally: its own signs are hidden, and no line begins with one. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1')
    .replaceAll("'", '\\(aq');
}

/** The flags that make a command print its output. */
export function outputFlags(command: string): string {
  return { changes: '--format ndjson', service: '--format json' }[command] ?? '--json';
}

/** The JSON Schema of a command's output, also of a failure if it can print one. */
export function schemaOf(command: string): object {
  const shape = shapeOf(command);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: `docmirror ${command} ${outputFlags(command)}`,
    ...(outputFlags(command) !== '--json' ? shape : { anyOf: [withLabels(shape), failureOutput] }),
  };
}

/** The parts of a declaration, as JSON Schema names them. */
export interface JsonShape {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly (string | null)[];
  readonly properties?: Readonly<Record<string, JsonShape>>;
  readonly required?: readonly string[];
  readonly items?: JsonShape;
  readonly anyOf?: readonly JsonShape[];
}

/** The declaration of a command's output. */
export function shapeOf(command: string): JsonShape {
  return outputs[command as keyof typeof outputs] as object;
}

/** An output with the labels, which it has if some are set. */
function withLabels(shape: JsonShape): JsonShape {
  if (shape.anyOf !== undefined) return { ...shape, anyOf: shape.anyOf.map(withLabels) };
  if (shape.properties === undefined || 'labels' in shape.properties) return shape;
  return { ...shape, properties: { labels: labels as object, ...shape.properties } };
}

/** The name of a command's schema in the package: `audit-receipts`. */
export function schemaName(command: string): string {
  return command.replaceAll(' ', '-');
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const files = Object.keys(outputs).map((command): [string, string] => [
    join('schemas', `${schemaName(command)}.json`),
    `${JSON.stringify(schemaOf(command), null, 2)}\n`,
  ]);
  for (const folder of ['man', 'schemas']) {
    rmSync(join(root, folder), { recursive: true, force: true });
    mkdirSync(join(root, folder));
  }
  for (const [path, text] of [['man/docmirror.1', await manText()] as const, ...files])
    writeFileSync(join(root, path), text);
}
