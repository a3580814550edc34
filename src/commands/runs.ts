import type { OutputOf } from '../render/outputs/outputs.ts';
import { rejectedText, runsText } from '../render/runs.ts';
import { RunReader, readRejected } from '../store/read/run-reader.ts';
import { command } from './command.ts';
import { defaulting, number } from './flags.ts';

/** `docmirror runs` */
export const runs = command({
  flags: { limit: defaulting(number('N', 'how many runs', [1, 1_000_000]), '20') },
  examples: {
    'docmirror runs': 'the newest twenty',
    'docmirror runs --limit 1 --json': 'the last one, for scripts',
  },
  run({ limit }, { config }) {
    using reader = new RunReader(config.database);
    return reader.runs(limit);
  },
  output: (found): OutputOf['runs'] => found,
  text: runsText,
});

/** `docmirror rejected` */
export const rejected = command({
  flags: {
    limit: defaulting(number('N', 'how many records, the last rejected first', [0, 1_000_000]), '20'),
  },
  examples: {
    'docmirror rejected': 'the reasons, and some records',
    'docmirror rejected --json --limit 1000': 'complete texts, for those who run the service',
  },
  notes: [
    'A reason counts as "still" if the newest run that wrote the list rejected the record again. A share has no texts. "docmirror erase rejected-records ID" removes a text for good.',
  ],
  run: ({ limit }, { config }) => readRejected(config.database, limit),
  output: (found): OutputOf['rejected'] => found,
  text: rejectedText,
});
