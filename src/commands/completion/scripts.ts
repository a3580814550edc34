import type { shells } from '../table/start.ts';

/**
 * The scripts that make a shell complete the words of docmirror. Each calls `docmirror completion words -- WORDS`. The first line of
 * the answer says whether names of files or folders fit. The other lines are words that fit, without the `--flag=` before the cursor.
 */
export const scripts: Readonly<Record<(typeof shells)[number], string>> = {
  bash: `_docmirror() {
  local answer at flag= place word words=()
  # Bash mostly ends a word before and after each equals sign.
  for ((at = 1; at <= COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    if [[ ( $word == = || \${COMP_WORDS[at - 1]} == = ) && \${#words[@]} -gt 0 ]]; then
      words[\${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
  done
  if [[ $word == = ]]; then word=; fi
  if [[ $word == --*=* ]]; then flag=\${word%%=*}= word=\${word#*=}; fi
  mapfile -t answer < <(docmirror completion words -- "\${words[@]}" 2>/dev/null)
  place=\${answer[0]}
  COMPREPLY=("\${answer[@]:1}")
  case $place in
    files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    folders) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
  esac
  COMPREPLY=("\${COMPREPLY[@]/#/$flag}")
}
complete -F _docmirror docmirror
`,
  zsh: `#compdef docmirror
_docmirror() {
  local -a answer
  answer=("\${(@f)$(docmirror completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ $words[CURRENT] == --*=* ]]; then compset -P '--*='; fi
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
  set -l flag (string match -r -- '^--[^=]+=' (commandline -ct))
  set -l typed (string replace -r -- '^--[^=]+=' '' (commandline -ct))
  set -l answer (docmirror completion words -- $words[2..-1] 2>/dev/null)
  switch "$answer[1]"
    case files
      printf '%s\\n' "$flag"(__fish_complete_path $typed)
    case folders
      printf '%s\\n' "$flag"(__fish_complete_directories $typed '')
    case '*'
      printf '%s\\n' "$flag"$answer[2..-1]
  end
end
complete -c docmirror -f -a '(__docmirror)'
`,
};
