import { type SettingName, settings } from '../../config/settings.ts';
import { wrap } from '../../render/wrap.ts';
import type { CommandEntry } from './entry.ts';

/** The help text of a setting's flag: its meaning, its variable and its default. */
export function settingHelp(name: SettingName): string {
  const { variable, valueName, default: fallback, help } = settings[name];
  const isPlain = fallback === null || valueName === null;
  return `${help} ${isPlain ? `[${variable}]` : `[${variable}, default ${fallback}]`}`;
}

/**
 * The part of the help after the flags: examples, notes and exit codes.
 *
 * @param width of the terminal, in characters.
 */
export function helpAfterFlags({ examples, notes = [], exitCodes }: CommandEntry, width: number): string {
  const lineWidth = Math.min(lineWidthMax, Math.max(...examples.map(({ line }) => line.length)));
  const shown = examples.flatMap(({ line, meaning }) => {
    const beside = `  $ ${line.padEnd(lineWidth)}   ${meaning}`;
    const indent = ' '.repeat(lineWidth + 7);
    if (line.length <= lineWidth && beside.length <= width) return [beside];
    const isNarrow = indent.length + meaning.length > width;
    return [
      `  $ ${line}`,
      ...(isNarrow ? wrap(`      ${meaning}`, width, '      ') : [`${indent}${meaning}`]),
    ];
  });
  const paragraphs = [...notes, ...(exitCodes === undefined ? [] : [`Exit codes: ${exitCodes}`])];
  const wrapped = paragraphs.flatMap(text => ['', ...wrap(text, Math.min(width, widthMax))]);
  return ['', 'Examples:', ...shown, ...wrapped].join('\n');
}

/** An example with more characters than this has its meaning on the next line. */
const lineWidthMax = 60;

/** The width of a paragraph, in characters. */
const widthMax = 110;
