import { writeFileSync } from 'node:fs';
import { generateKey } from '../audit/checkpoint.ts';
import { receiptOrNull } from '../audit/receipt.ts';
import { rejectUnknownVariables } from '../config/resolve.ts';
import { MirrorFileError, UsageError } from '../errors.ts';
import { receiptsText } from '../render/runs.ts';
import { isStandardOutput } from '../store/file/links.ts';
import { writing } from '../store/file/unfinished.ts';
import { writeWhole } from '../store/file/whole-file.ts';
import { receiptsOf } from '../store/read/runs/receipts.ts';
import { checkpointIn } from './checkpoint-file.ts';
import { command } from './command.ts';
import { mirrorSettings, required, typed, yes } from './flags.ts';

/** `docmirror audit keygen` */
export const keygen = command({
  arguments: { path: required(typed('FILE')) },
  flags: {},
  settings: [],
  run({ path }, { settings: { environment } }) {
    rejectUnknownVariables(environment);
    const { privatePem, publicPem } = generateKey();
    writing(path, () => writeFileSync(path, privatePem, { flag: 'wx', mode: 0o600 }));
    return publicPem;
  },
});

/** `docmirror audit checkpoint` */
export const checkpoint = command({
  flags: { out: typed('FILE'), unsigned: yes },
  settings: ['signingKeyFile', ...mirrorSettings],
  run({ out, unsigned }, { config: { database, signingKeyFile } }) {
    if (signingKeyFile === null && !unsigned)
      throw new UsageError(
        'DOCMIRROR_SIGNING_KEY_FILE is not set. Make a key with "docmirror audit keygen FILE" and set it, or pass --unsigned.',
      );
    const text = checkpointIn(database, unsigned ? null : signingKeyFile);
    if (out === null || isStandardOutput(out)) return text;
    writeWhole(out, text);
    return '';
  },
});

/** `docmirror audit receipts` */
export const receipts = command({
  flags: { json: yes },
  run({ json }, { config: { database }, stdout }) {
    const found = [...receiptsOf(database)];
    if (json) return void stdout.write(found.map(({ receipt }) => `${receipt}\n`).join(''));
    return found.map(({ leafIndex, receipt: text }) => {
      const receipt = receiptOrNull(text);
      if (receipt !== null) return { leafIndex, receipt };
      const what = `Receipt ${leafIndex} in ${database} is not as docmirror writes one.`;
      const todo = '"docmirror verify" shows what was changed; --json prints the texts as they are.';
      throw new MirrorFileError(`${what} ${todo}`);
    });
  },
  text: receiptsText,
});
