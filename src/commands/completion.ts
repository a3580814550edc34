import { type Command, command, flagsOf } from './command.ts';
import { option, required } from './flags.ts';

/** Words that can follow others on the command line: those of a command or of a group, or none. */
type Level = readonly [before: string, words: readonly string[]];

/** `docmirror completion`; `load` loads all commands. */
export function completionOf(load: () => Promise<readonly { name: string; command: Command }[]>) {
  return command({
    arguments: { shell: required(option(['bash', 'zsh', 'fish'], 'SHELL')) },
    flags: {},
    settings: [],
    async run({ shell }) {
      const levels = levelsOf(await load());
      return shell === 'fish' ? fishScript(levels) : shellScript(levels, shell);
    },
  });
}

function levelsOf(all: readonly { name: string; command: Command }[]): Level[] {
  const names = all.map(({ name }) => name.split(' '));
  const heads = [...new Set(names.map(([head = '']) => head))];
  const inGroup = (head: string) => names.flatMap(([group, inner = []]) => (group === head ? inner : []));
  return [
    ...all.map(({ name, command }): Level => {
      const choices = Object.values(command.arguments ?? {}).flatMap(each => each.choices ?? []);
      return [name, [...choices, ...flagsOf(command).keys(), '--help']];
    }),
    ...heads.map((head): Level => [head, inGroup(head)]),
    ['help', heads],
    ['', [...heads, 'help', '--database', '--env-file', '--help', '--version']],
  ];
}

/** A function that finds what fits, with the few lines in which the two shells differ. Where no word fits, files do. */
function shellScript(levels: readonly Level[], shell: 'bash' | 'zsh'): string {
  const cases = levels.map(([before, words]) => {
    const typed = before === '' ? '" "' : `"${before} "*`;
    return `    ${typed}) known="${words.join(' ')}" ;;`;
  });
  const [typed, answer, complete] = {
    bash: [
      `\${COMP_WORDS[*]:1:COMP_CWORD-1}`,
      `COMPREPLY=($(compgen -W "$known" -- "\${COMP_WORDS[COMP_CWORD]}"))`,
      'complete -o default -F _docmirror docmirror',
    ],
    zsh: [`\${(j: :)words[2,CURRENT-1]}`, `compadd -- \${=known} || _files`, 'compdef _docmirror docmirror'],
  }[shell];
  return `_docmirror() {
  local known=
  case "${typed} " in
${cases.join('\n')}
  esac
  ${answer}
}
${complete}
`;
}

function fishScript(levels: readonly Level[]): string {
  const lines = levels.map(([before, words]) => {
    const isNoFile = words.every(word => word.startsWith('-')) ? '' : ' -f';
    return `complete -c docmirror -n "__docmirror_after '${before}'"${isNoFile} -a "${words.join(' ')}"`;
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
