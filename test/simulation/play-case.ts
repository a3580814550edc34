// Plays a kept case, by its name, and prints what came of it, a word a line.
import { Disk } from './disk.ts';
import { outcomesOf, regressionCalled } from './regressions.ts';

const [name = ''] = process.argv.slice(2);
using disk = new Disk();
for (const outcome of await outcomesOf(regressionCalled(name), disk)) console.log(outcome);
