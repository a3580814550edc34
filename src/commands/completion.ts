import { type Command, command, flagsOf } from './command.ts';
import { choice, required } from './flags.ts';

/** What can follow other words on the command line. */
interface Level {
  /** The words before: none, a group, or a command. */
  readonly before: string;
  readonly words: readonly string[];
  readonly flags: readonly string[];
}

/** `docmirror completion`; `load` loads all commands. */
export function completionOf(load: () => Promise<readonly { name: string; command: Command }[]>) {
  return command({
    arguments: { shell: required(choice(['bash', 'zsh', 'fish'], 'SHELL', 'bash, zsh or fish')) },
    flags: {},
    settings: [],
    examples: {
      'eval "$(docmirror completion bash)"': 'in ~/.bashrc',
      'eval "$(docmirror completion zsh)"': 'in ~/.zshrc, after compinit',
      'docmirror completion fish | source': 'in ~/.config/fish/config.fish',
    },
    async run({ shell }) {
      const levels = levelsOf(await load());
      return shell === 'fish' ? fishScript(levels) : shellScript(levels, shell);
    },
  });
}

/** All levels, the deepest first. */
function levelsOf(all: readonly { name: string; command: Command }[]): Level[] {
  const names = all.map(({ name }) => name.split(' '));
  const heads = [...new Set(names.map(([head = '']) => head))];
  const ofCommands = all.map(({ name, command }) => ({
    before: name,
    words: Object.values(command.arguments ?? {}).flatMap(({ choices = [] }) => choices),
    flags: [...flagsOf(command).map(flag => flag.name), '--help'],
  }));
  const ofGroups = heads.map(before => ({
    before,
    words: names.flatMap(([head, inner]) => (head === before && inner !== undefined ? [inner] : [])),
    flags: [],
  }));
  const own = ['--database', '--env-file', '--help', '--version'];
  return [
    ...ofCommands,
    ...ofGroups.filter(({ words }) => words.length > 0),
    { before: 'help', words: heads, flags: [] },
    { before: '', words: [...heads, 'help'], flags: own },
  ];
}

/** A function that finds what fits, with the few lines in which the two shells differ. Where no word fits, files do. */
function shellScript(levels: readonly Level[], shell: 'bash' | 'zsh'): string {
  const cases = levels.map(({ before, words, flags }) => {
    const typed = before === '' ? '" "' : `"${before} "*`;
    return `    ${typed}) words="${words.join(' ')}" flags="${flags.join(' ')}" ;;`;
  });
  const [typed, last, answer, complete] = {
    bash: [
      `\${COMP_WORDS[*]:1:COMP_CWORD-1}`,
      `\${COMP_WORDS[COMP_CWORD]}`,
      `COMPREPLY=($(compgen -W "$words" -- "$last"))`,
      'complete -o default -F _docmirror docmirror',
    ],
    zsh: [
      `\${(j: :)line[1,-2]}`,
      `\${line[-1]}`,
      `compadd -- \${=words} || _files`,
      'compdef _docmirror docmirror',
    ],
  }[shell];
  const before = shell === 'zsh' ? `\n  local -a line=("\${(@)words[2,CURRENT]}")` : '';
  return `_docmirror() {${before}
  local words= flags= typed="${typed} " last="${last}"
  case "$typed" in
${cases.join('\n')}
  esac
  if [[ $last == -* ]]; then words=$flags; fi
  ${answer}
}
${complete}
`;
}

function fishScript(levels: readonly Level[]): string {
  const lines = levels.flatMap(({ before, words, flags }) => {
    const head = `complete -c docmirror -n "__docmirror_after '${before}'"`;
    return [
      ...words.map(word => `${head} -f -a ${word}`),
      ...flags.map(flag => `${head} -l ${flag.slice(2)}`),
    ];
  });
  return `function __docmirror_after
  set -l typed (commandline -opc)[2..-1]
  if test -z "$argv"
    test -z "$typed"
  else
    string match -q -- "$argv *" "$typed "
  end
end
${lines.join('\n')}
`;
}
