import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { addBehind, copyProgram, generateMigration } from './program-copy.ts';

const inRegistry = `
    text('language', 'Language'),
    { kind: 'integer', name: 'pageTotal', column: 'page_total', label: 'Pages' },`;
const inSchema = `
    language: text('language'),
    pageTotal: integer('page_total'),`;

/** What had waited in `_extra` and fits goes into its column. */
const moves = `
--> statement-breakpoint
UPDATE document_exports SET language = _extra ->> '$.language', _extra = nullif(json_remove(_extra, '$.language'), '{}')
WHERE json_type(_extra, '$.language') IN ('text', 'null');
--> statement-breakpoint
UPDATE document_exports SET page_total = _extra ->> '$.pageTotal', _extra = nullif(json_remove(_extra, '$.pageTotal'), '{}')
WHERE json_type(_extra, '$.pageTotal') IN ('integer', 'null') AND abs(coalesce(_extra ->> '$.pageTotal', 0)) < 9007199254740992;
`;

/**
 * Makes a docmirror whose shape is one later than that of the sources: a copy of them in a folder, with a text and a number more. To
 * it, the mirrors of the sources are of an older shape.
 */
export async function growDocmirror(grown: string): Promise<void> {
  copyProgram(grown);
  addBehind(join(grown, 'src/contract/lists.ts'), "{ isSorted: true, filter: 'time' }),", inRegistry);
  addBehind(join(grown, 'src/store/tables/schema.ts'), "exportedAt: text('exported_at'),", inSchema);
  await generateMigration(grown);
  const newest = readdirSync(join(grown, 'migrations'))
    .filter(name => name.endsWith('.sql'))
    .sort()
    .at(-1);
  appendFileSync(join(grown, 'migrations', `${newest}`), moves);
}
