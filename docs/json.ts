import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failure, type JsonOutput, jsonOutputs, type Shape } from './json-shapes.ts';

// Writes docs/json.md and the schemas of the package: npm run docs:json

export const jsonPath = join(import.meta.dirname, 'json.md');
export const schemasFolder = join(import.meta.dirname, '..', 'schemas');

const intro = `# JSON

<!-- Written by "npm run docs:json" from docs/json-shapes.ts; a test validates what each command prints. -->

This page lists what commands print for programs: one JSON value on standard output, on one line. \`audit receipts\` and \`changes\` print one
value a line. Logs and progress go to standard error.

Within 0.x, fields are added and never renamed or removed, so ignore fields that you do not know. The package has a schema of each output:
\`docmirror/schemas/sync.json\` and so on. Times are UTC in ISO 8601. If a whole number of the service is too large for JavaScript, docmirror
keeps all its digits.

## If a command fails

If a command with \`--json\` fails before it has anything else to print, it prints this, and its exit code is not 0:

\`\`\`json
{"error":{"code":"mirror_busy","message":"Another run is using docmirror.sqlite. Wait until it is done, or stop it."}}
\`\`\`

\`docmirror help CODE\` explains a code; [troubleshooting.md](troubleshooting.md) explains all of them. \`changes\` does not print this line: look at its exit code.
`;

/** The text of docs/json.md. */
export function jsonText(): string {
  return [intro, ...jsonOutputs.map(sectionOf)].join('\n');
}

/** The name of an output's schema: `sync`, `audit-receipts`. */
export function schemaName({ command }: JsonOutput): string {
  return command.replace(/ --.*$/, '').replaceAll(' ', '-');
}

/** The JSON schema of an output, also of a failure if it can print one. */
export function schemaOf(output: JsonOutput): object {
  const { command, about, shape } = output;
  const canFail = command.endsWith('--json');
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: `docmirror ${command}`,
    description: about.replace(/\[([^\]]+)\]\([^)]+\)/g, 'docs/$1'),
    ...(canFail ? { anyOf: [shape, failure] } : shape),
  };
}

/** The text of an output's schema. */
export function schemaText(output: JsonOutput): string {
  return `${JSON.stringify(schemaOf(output), null, 2)}\n`;
}

function sectionOf(output: JsonOutput): string {
  const { command, about, shape } = output;
  const parts = shape.anyOf ?? [shape];
  const tables = parts.map(part => {
    const head = part.description && shape.anyOf ? [`${capital(part.description)}:`, ''] : [];
    return [...head, '| field | type | meaning |', '|---|---|---|', ...rowsOf(part, ''), ''].join('\n');
  });
  return [`## \`docmirror ${command}\``, '', about, '', tables.join('\n')].join('\n');
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A row for each field, also for those inside of it: `resources[].error.code`. */
function rowsOf(shape: Shape, path: string): string[] {
  if (shape.items !== undefined) return rowsOf(shape.items, `${path}[]`);
  return Object.entries(shape.properties ?? {}).flatMap(([name, inner]) => {
    const at = path === '' ? name : `${path}.${name}`;
    const isOptional = shape.required?.includes(name) === false;
    return [
      `| \`${at}\` | ${typeText(inner)}${isOptional ? ', can be left out' : ''} | ${inner.description ?? ''} |`,
      ...rowsOf(inner, at),
    ];
  });
}

function typeText({ type, enum: words }: Shape): string {
  const types = [type ?? 'any'].flat();
  if (words === undefined) return types.join(' or ');
  const named = words.filter(word => word !== null).map(word => `\`${word}\``);
  return [named.join(', '), ...(types.includes('null') ? ['null'] : [])].join(' or ');
}

if (import.meta.main) {
  writeFileSync(jsonPath, jsonText());
  mkdirSync(schemasFolder, { recursive: true });
  for (const name of readdirSync(schemasFolder)) rmSync(join(schemasFolder, name));
  for (const output of jsonOutputs)
    writeFileSync(join(schemasFolder, `${schemaName(output)}.json`), schemaText(output));
}
