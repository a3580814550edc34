import { runsOutputOf, runsText } from '../render/run-list.ts';
import { RunReader } from '../store/read/run-reader.ts';
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
  output: runsOutputOf,
  text: runsText,
});
