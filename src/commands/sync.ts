import { lists } from '../contract/lists.ts';
import { changesText, type ShownChange } from '../render/changes.ts';
import { type SharedRunSummary, summaryText } from '../render/run-summary.ts';
import { verdictTones } from '../render/tones.ts';
import { readRejected } from '../store/read/runs/rejected.ts';
import { command } from './command.ts';
import { conflicting, listFlag, mirrorSettings, runSettings, yes } from './flags.ts';
import { changesWidth, summaryWidth } from './io.ts';
import { createLogger } from './logging.ts';
import { exitCodeAfter, firstLineAfter, runOnce } from './run-once.ts';
import { assertShareFits } from './share.ts';

const shownChangesMax = 200;

export default command({
  flags: {
    resource: listFlag,
    full: yes,
    dryRun: yes,
    allowMassRemoval: yes,
    acceptNewBaseUrl: yes,
    rebuild: conflicting(yes, '--resource', '--dry-run'),
  },
  settings: [...runSettings, ...mirrorSettings],
  notifies: ({ dryRun }) => !dryRun,
  async run(given, context) {
    const { config, service } = context;
    if (!given.dryRun) assertShareFits(config);
    const logger = createLogger(config, context);
    const planned: ShownChange[] = [];
    let plannedCount = 0;
    const onPlannedChange = (change: ShownChange) => {
      plannedCount++;
      if (planned.length < shownChangesMax) planned.push(change);
    };
    const wanted = lists.filter(({ resource }) => given.resource.includes(resource));
    const dry = given.dryRun && { onPlannedChange };
    const order = { ...given, config, service, logger, lists: wanted, ...dry };
    const summary = await runOnce(order, context);
    context.exitCode = exitCodeAfter(summary, context.signal);
    const hasRejected = !given.dryRun && summary.resources.some(({ rejected }) => rejected > 0);
    const reasons = hasRejected ? readRejected(config.database, 0).counts : [];
    const rejections = reasons.filter(({ isCurrent }) => isCurrent);
    return { summary, first: firstLineAfter(summary, context), rejections, planned, plannedCount };
  },
  output: ({ summary }): SharedRunSummary => summary,
  tones: ({ summary }) => verdictTones(summary.resources),
  text({ summary, first, rejections, planned, plannedCount }, width) {
    const plan = plannedCount === 0 ? '' : `${changesText(planned, plannedCount, changesWidth(width))}\n`;
    return `${plan}${summaryText(summary, summaryWidth(width), rejections, first)}`;
  },
});
