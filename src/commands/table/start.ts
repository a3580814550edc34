import type { CommandEntry } from './entry.ts';

/** The shells that there is a completion for. */
export const shells = ['bash', 'zsh', 'fish'] as const;

/** The commands by which one gets to know docmirror. */
export const startCommands = [
  {
    name: 'completion',
    description: 'Print a script that completes commands, flags, lists and runs in a shell.',
    arguments: [
      { name: 'SHELL', help: shells.join(', '), isRequired: true, offers: shells },
      { name: 'WORDS', help: 'for the script itself', isRepeatable: true },
    ],
    flags: [],
    settings: [],
    examples: [
      { line: 'eval "$(docmirror completion bash)"', meaning: 'in ~/.bashrc' },
      { line: 'eval "$(docmirror completion zsh)"', meaning: 'in ~/.zshrc, after compinit' },
      { line: 'docmirror completion fish | source', meaning: 'in ~/.config/fish/config.fish' },
    ],
  },
  {
    name: 'demo',
    description:
      'Show everything without settings: mirror a sample service into docmirror-demo.sqlite, a run a day for two weeks, with a share.',
    flags: [
      {
        flag: '--records',
        valueName: 'n',
        help: 'how many document exports there are at first; with more than 100000, only four runs are made',
        default: '4000',
      },
      {
        flag: '--until',
        valueName: 'date',
        help: 'the time of the last run (default: now). The same date makes the same records',
      },
    ],
    settings: ['logLevel'],
    examples: [
      { line: 'docmirror demo', meaning: 'makes docmirror-demo.sqlite again' },
      { line: 'docmirror demo --records 1000000', meaning: 'a large one; takes minutes and 2 GB of memory' },
      { line: 'docmirror demo --log-level info', meaning: 'with what it logs' },
    ],
  },
] as const satisfies readonly CommandEntry[];
