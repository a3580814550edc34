import type { shells } from '../table/start.ts';

/** A shell that there is a completion for. */
export type Shell = (typeof shells)[number];

/** The script that makes a shell complete the words of docmirror: it asks docmirror what may stand at the cursor. */
export function scriptFor(shell: Shell): string {
  return scripts[shell];
}

// Each asks `docmirror completion words -- WORDS`: the first line of the answer says whether names of files or folders fit, the
// others are words that do.
const scripts: Readonly<Record<Shell, string>> = {
  bash: `_docmirror() {
  local answer place word=\${COMP_WORDS[COMP_CWORD]}
  mapfile -t answer < <(docmirror completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  place=\${answer[0]}
  COMPREPLY=("\${answer[@]:1}")
  case $place in
    files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    folders) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
  esac
}
complete -F _docmirror docmirror
`,
  zsh: `#compdef docmirror
_docmirror() {
  local -a answer
  answer=("\${(@f)$(docmirror completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case $answer[1] in
    files) _files ;;
    folders) _files -/ ;;
    *) compadd -- "\${(@)answer[2,-1]}" ;;
  esac
}
if [[ $funcstack[1] == _docmirror ]]; then _docmirror "$@"; else compdef _docmirror docmirror; fi
`,
  fish: `function __docmirror
  set -l words (commandline -opc) (commandline -ct)
  set -l answer (docmirror completion words -- $words[2..-1] 2>/dev/null)
  switch "$answer[1]"
    case files
      __fish_complete_path (commandline -ct)
    case folders
      __fish_complete_directories (commandline -ct) ''
    case '*'
      printf '%s\\n' $answer[2..-1]
  end
end
complete -c docmirror -f -a '(__docmirror)'
`,
};
