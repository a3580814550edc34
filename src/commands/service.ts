import { serviceFormats } from '../render/service.ts';
import { readService } from '../store/read/service-facts.ts';
import { readMirror } from '../store/read/sqlite.ts';
import { command } from './command.ts';
import { defaulting, option, typed } from './flags.ts';
import { widthOf } from './io.ts';
import { put } from './stream-out.ts';

const formats = ['text', 'markdown', 'json', 'openapi'] as const;

export default command({
  flags: { format: defaulting(option(formats, 'FORMAT'), 'text'), out: typed('FILE') },
  run({ format, out }, { config, stdout }) {
    const known = readMirror(config.database, readService);
    return put(serviceFormats[format](known, out === null ? widthOf(stdout) : Number.POSITIVE_INFINITY), out);
  },
});
