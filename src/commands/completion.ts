import { type Command, command, flagsOf, ownFlags } from './command.ts';
import { choice, required } from './flags.ts';

/** The words that can follow others on the command line. */
interface Level {
  /** The words before: none, a group, or a command. */
  readonly before: string;
  readonly words: readonly string[];
}

/**
 * `docmirror completion`
 *
 * @param load loads all commands.
 */
export function completionOf(load: () => Promise<readonly { name: string; command: Command }[]>) {
  return command({
    arguments: { shell: required(choice(['bash', 'zsh', 'fish'], 'SHELL', 'bash, zsh or fish')) },
    flags: {},
    settings: [],
    examples: [
      { line: 'eval "$(docmirror completion bash)"', meaning: 'in ~/.bashrc' },
      { line: 'eval "$(docmirror completion zsh)"', meaning: 'in ~/.zshrc, after compinit' },
      { line: 'docmirror completion fish | source', meaning: 'in ~/.config/fish/config.fish' },
    ],
    async run({ shell }) {
      const levels = levelsOf(await load());
      return shell === 'fish' ? fishScript(levels) : shellScript(levels, shell);
    },
    text: script => script,
  });
}

/** All levels, the deepest first. */
function levelsOf(all: readonly { name: string; command: Command }[]): Level[] {
  const heads = [...new Set(all.map(({ name }) => name.split(' ')[0] ?? name))];
  const ofCommands = all.map(({ name, command }) => {
    return { before: name, words: [...flagsOf(command).map(flag => flag.name), '--help'] };
  });
  const ofGroups = heads.map(before => {
    const inner = all.filter(({ name }) => name.startsWith(`${before} `));
    return { before, words: inner.map(({ name }) => name.slice(before.length + 1)) };
  });
  const first = [...heads, 'help', ...ownFlags.map(({ name }) => name), '--help', '--version'];
  return [
    ...ofCommands,
    ...ofGroups.filter(({ words }) => words.length > 0),
    { before: 'help', words: heads },
    { before: '', words: first },
  ];
}

/** A function that finds the words for what is typed, with the few lines in which the two shells differ. Files fit where no word does. */
function shellScript(levels: readonly Level[], shell: 'bash' | 'zsh'): string {
  const cases = levels.map(({ before, words }) => {
    const typed = before === '' ? '" "' : `"${before} "*`;
    return `    ${typed}) offered="${words.join(' ')}" ;;`;
  });
  const [typed, answer, complete] = {
    bash: [
      `\${COMP_WORDS[*]:1:COMP_CWORD-1}`,
      `COMPREPLY=($(compgen -W "$offered" -- "\${COMP_WORDS[COMP_CWORD]}"))`,
      'complete -o default -F _docmirror docmirror',
    ],
    zsh: [`\${words[2,CURRENT-1]}`, `compadd -- \${=offered} || _files`, 'compdef _docmirror docmirror'],
  }[shell];
  return `_docmirror() {
  local offered typed="${typed} "
  case "$typed" in
${cases.join('\n')}
  esac
  ${answer}
}
${complete}
`;
}

function fishScript(levels: readonly Level[]): string {
  const lines = levels.flatMap(({ before, words }) =>
    words.map(word => {
      const offer = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`;
      return `complete -c docmirror -n "__docmirror_after '${before}'" ${offer}`;
    }),
  );
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
