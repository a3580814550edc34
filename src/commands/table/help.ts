import { type SettingName, settings } from '../../config/settings.ts';
import { wrap } from '../../render/wrap.ts';
import type { CommandEntry } from './entry.ts';

/** What the help says of a setting's flag: its meaning, its variable and its default. */
export function settingHelp(name: SettingName): string {
  const { variable, valueName, default: fallback, help } = settings[name];
  const isPlain = fallback === null || valueName === null;
  return `${help} ${isPlain ? `[${variable}]` : `[${variable}, default ${fallback}]`}`;
}

/** What the help says after the flags: examples, what else one should know, exit codes. */
export function helpAfterFlags({ examples, notes = [], exitCodes }: CommandEntry): string {
  const width = Math.min(lineWidthMax, Math.max(...examples.map(({ line }) => line.length)));
  const shown = examples.map(({ line, meaning }) => {
    const before = line.length > width ? `${line}\n${' '.repeat(width + 4)}` : line.padEnd(width);
    return `  $ ${before}   ${meaning}`;
  });
  const paragraphs = [...notes, ...(exitCodes === undefined ? [] : [`Exit codes: ${exitCodes}`])];
  return ['', 'Examples:', ...shown, ...paragraphs.flatMap(text => ['', ...wrap(text, widthMax)])].join('\n');
}

/** The meaning of a longer example stands below it; in characters. */
const lineWidthMax = 60;

/** The width of a paragraph, in characters. */
const widthMax = 110;
