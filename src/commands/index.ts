import type { CommandBody } from './context.ts';
import type { CommandName } from './table/table.ts';

/** The body of each command, loaded when it is run: loading all takes several times as long. */
export const bodies: Readonly<Record<CommandName, () => Promise<CommandBody>>> = {
  sync: async () => (await import('./sync.ts')).sync,
  watch: async () => (await import('./watch.ts')).watch,
  doctor: async () => (await import('./doctor.ts')).doctor,
  status: async () => (await import('./status.ts')).status,
  runs: async () => (await import('./runs.ts')).runs,
  changes: async () => (await import('./changes.ts')).changes,
  query: async () => (await import('./query.ts')).query,
  show: async () => (await import('./show.ts')).show,
  rejected: async () => (await import('./rejected.ts')).rejected,
  report: async () => (await import('./report.ts')).report,
  serve: async () => (await import('./serve.ts')).serve,
  verify: async () => (await import('./verify.ts')).verify,
  share: async () => (await import('./share.ts')).share,
  backup: async () => (await import('./backup.ts')).backup,
  export: async () => (await import('./export.ts')).exportMirror,
  upgrade: async () => (await import('./upgrade.ts')).upgrade,
  erase: async () => (await import('./erase.ts')).erase,
  'audit keygen': async () => (await import('./audit.ts')).keygen,
  'audit checkpoint': async () => (await import('./audit.ts')).checkpoint,
  'audit receipts': async () => (await import('./audit.ts')).receipts,
  'publish clickhouse': async () => (await import('./publish.ts')).publishTo,
  completion: async () => (await import('./completion.ts')).completion,
  demo: async () => (await import('./demo.ts')).demo,
};
