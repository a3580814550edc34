import type { CommandEntry } from './entry.ts';
import { fileFlag, mirrorFlags } from './shared-flags.ts';

/** The commands for an auditor: keys, checkpoints and the receipts. */
export const auditCommands = [
  {
    name: 'audit keygen',
    description:
      'Write a private key, for its owner alone, never over an existing file, and print the public one.',
    arguments: [{ name: 'FILE', help: 'where the private key goes', isRequired: true, offers: 'files' }],
    flags: [],
    settings: [],
    examples: [
      {
        line: 'docmirror audit keygen signing-key.pem > key.pub',
        meaning: 'once; give key.pub to the auditor',
      },
      { line: 'docmirror audit keygen next-key.pem', meaning: 'the public one on the terminal' },
    ],
    notes: ['DOCMIRROR_SIGNING_KEY_FILE names the private key for those commands that sign.'],
    exitCodes: '0 done, 2 the file is there already, or it can not be written.',
  },
  {
    name: 'audit checkpoint',
    description: 'Print a signed checkpoint of all receipts.',
    flags: [
      fileFlag('--out', 'write it into a file instead'),
      { flag: '--unsigned', help: 'print it without a signature' },
    ],
    settings: ['signingKeyFile', ...mirrorFlags],
    examples: [
      {
        line: 'docmirror audit checkpoint --unsigned',
        meaning: 'how many receipts there are, and their root',
      },
      {
        line: 'docmirror audit checkpoint --unsigned --out checkpoint',
        meaning: 'into a file; keep it where no one can change it',
      },
    ],
    notes: ['"docmirror verify --checkpoint FILE" shows later whether anything before it was changed.'],
  },
  {
    name: 'audit receipts',
    description: 'List the receipts, the oldest first.',
    flags: [{ flag: '--json', help: 'print them as they are stored, a line each' }],
    settings: mirrorFlags,
    examples: [
      { line: 'docmirror audit receipts', meaning: 'what each run stated' },
      { line: 'docmirror audit receipts --json > receipts.ndjson', meaning: 'byte for byte' },
    ],
  },
] as const satisfies readonly CommandEntry[];
