import type { CommandEntry } from './entry.ts';
import { listFlag, maxAgeFlag, mirrorFlags, runFlags } from './shared-flags.ts';

/** The commands that bring the mirror up to date, and the one that finds out why they can't. */
export const runCommands = [
  {
    name: 'sync',
    description: 'Read the lists of the service and bring the mirror up to date: one run.',
    flags: [
      listFlag,
      { flag: '--full', help: 'read the lists in full, also if an incremental sync would be enough' },
      { flag: '--dry-run', help: 'read and compare, change nothing, and print what would change' },
      {
        flag: '--allow-mass-removal',
        help: 'remove records even if they are more than --max-removals allows',
      },
      {
        flag: '--accept-new-base-url',
        help: 'accept that the mirror is of another base address, because the service has moved',
      },
      {
        flag: '--rebuild',
        help: 'drop what another program altered (mirror_altered), put views and indexes right, and read all lists in full',
        conflicts: ['--resource', '--dry-run'],
      },
      { flag: '--json', help: "print the run's summary as one JSON object" },
    ],
    settings: [...runFlags, ...mirrorFlags],
    examples: [
      { line: 'docmirror sync', meaning: 'all three lists' },
      { line: 'docmirror sync --resource webhooks --full', meaning: 'one list, in full' },
      { line: 'docmirror sync --dry-run', meaning: 'what would change' },
      { line: 'docmirror sync --json > run.json', meaning: 'for scripts' },
    ],
    exitCodes:
      '0 done, 1 failed, 2 usage, 3 partial or no share, 11 another run is using the mirror, 12 the service refused the token, 129, 130 and 143 ended by a signal.',
  },
  {
    name: 'watch',
    description: 'Sync on a cron schedule, never two runs at once, until SIGTERM, SIGINT or SIGHUP.',
    flags: [
      { flag: '--run-now', help: 'also sync once at the start' },
      {
        flag: '--jitter',
        valueName: 'TIME',
        help: 'start each run up to this much later, at random; also the run of --run-now',
        default: '0',
      },
      { flag: '--http', valueName: 'HOST:PORT', help: 'answer /healthz and /metrics there' },
      maxAgeFlag('/healthz answers 503 if a list has had no completed run for longer'),
    ],
    settings: [...runFlags, 'schedule', 'timezone', ...mirrorFlags],
    examples: [
      { line: 'docmirror watch', meaning: 'every full hour' },
      {
        line: "docmirror watch --schedule '*/15 6-20 * * 1-5' --timezone Europe/Berlin --run-now",
        meaning: 'in working hours, and now',
      },
      {
        line: 'docmirror watch --jitter 5m --http 127.0.0.1:9464 --max-age 26h',
        meaning: 'one of many, looked after',
      },
    ],
    notes: [
      'Runs never overlap: a tick during a run is skipped and logged. A failed run does not end the watch. It is tried again after 5 minutes, or at the next tick if that is earlier. SIGTERM, SIGINT and SIGHUP end the watch cleanly, and a run in progress is recorded as cancelled. Its runs, also the one of --run-now, have the trigger "schedule", unless --trigger names another one.',
    ],
    exitCodes: '129, 130 and 143 ended by SIGHUP, SIGINT and SIGTERM.',
  },
  {
    name: 'doctor',
    description: 'Try everything that a run needs, in order, and say what was found and what to do.',
    flags: [{ flag: '--json', help: 'print it as one JSON object' }],
    settings: [...runFlags, 'signingKeyFile', ...mirrorFlags],
    examples: [
      { line: 'docmirror doctor', meaning: 'a line a check: what was tried, what was found, what to do' },
      { line: 'docmirror doctor --json > checks.json', meaning: 'for scripts' },
    ],
    notes: [
      'Nothing is changed, and no secret is shown: what it prints can be pasted into a ticket. The mirror is audited as "verify" does it, which can take long if it is large.',
      'It also says who else could read the mirror and the share, what killed backups left, and if pings and metrics get through. It only connects to the server of the pings, because a request would count as a ping.',
    ],
    exitCodes: '0, or what "docmirror sync" would end with.',
  },
] as const satisfies readonly CommandEntry[];
