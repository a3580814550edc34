import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { settings } from '../src/config/settings.ts';
import { exitCodes } from '../src/errors.ts';
import { tableMeanings } from './table-meanings.ts';

// Writes docs/reference.md: npm run docs:reference

export const referencePath = join(import.meta.dirname, 'reference.md');
const cliPath = join(import.meta.dirname, '..', 'src', 'cli.ts');

const intro = `# Reference

<!-- Written by "npm run docs:reference" from the program itself; a test checks that it is current. -->

This page lists all commands with their flags, all settings and all exit codes. Data goes to standard output, logs and progress to standard
error.
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
export function referenceText(): string {
  return [intro, commandSection(), settingSection(), exitSection(), tableSection()].join('\n');
}

function commandSection(): string {
  const sections = commandNames([]).flatMap(name => {
    const inner = commandNames([name]);
    return [[name], ...inner.map(each => [name, each])].map(
      path => `### \`docmirror ${path.join(' ')}\`\n\n\`\`\`text\n${help(path)}\`\`\`\n`,
    );
  });
  return ['## Commands\n', ...sections].join('\n');
}

/** The commands that a help text lists. */
function commandNames(path: readonly string[]): string[] {
  const [, list = ''] = help(path).split('\nCommands:\n');
  const names = [...list.matchAll(/^ {2}(\w[\w-]*)/gm)].map(([, name = '']) => name);
  return names.filter(name => name !== 'help');
}

const helps = new Map<string, string>();

function help(path: readonly string[]): string {
  const key = path.join(' ');
  const known = helps.get(key);
  if (known !== undefined) return known;
  const { PATH } = process.env;
  const text = execFileSync(process.execPath, ['--', cliPath, ...path, '--help'], {
    encoding: 'utf8',
    env: PATH === undefined ? {} : { PATH },
  });
  helps.set(key, text);
  return text;
}

function settingSection(): string {
  const rows = Object.values(settings).map(
    ({ variable, flag, default: value, help: meaning }) =>
      `| \`${variable}\` | \`${flag}\` | ${value === null ? 'none' : `\`${value}\``} | ${cell(meaning)} |`,
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

if (import.meta.main) writeFileSync(referencePath, referenceText());
