import { join } from 'node:path';
import { addBehind, copyProgram, generateMigration } from './program-copy.ts';

const inRegistry = `
    textField('language', 'language', 'Language'),
    { kind: 'integer', name: 'pageTotal', column: 'page_total', label: 'Pages' },
    connectionField('reviewerConnection', 'reviewer_connection_id', 'Reviewer'),`;
const inSchema = `
    language: text('language'),
    pageTotal: integer('page_total'),
    reviewerConnectionId: connectionId('reviewer_connection_id'),`;
const inViews = `
  reviewerConnectionName: text('reviewer_connection_name'),`;

/**
 * Makes a docmirror whose shape is one later than that of the sources: a copy of them in a folder, with a new field of each kind. To
 * it, the mirrors of the sources are of an older shape.
 */
export async function growDocmirror(grown: string): Promise<void> {
  copyProgram(grown);
  addBehind(join(grown, 'src/contract/lists.ts'), "{ isSorted: true, filter: 'time' }),", inRegistry);
  addBehind(join(grown, 'src/store/tables/schema.ts'), "exportedAt: text('exported_at'),", inSchema);
  addBehind(join(grown, 'src/store/tables/view-columns.ts'), '  ...documentExportFields(),', inViews);
  // A changed default makes drizzle-kit build the table again. Other tables refer to it, and views read it.
  addBehind(join(grown, 'src/store/tables/schema.ts'), "description: text('description')", ".default('')");
  await generateMigration(grown);
}
