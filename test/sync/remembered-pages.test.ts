import { expect, test } from 'vitest';
import { syncScene } from '../support/in-process.ts';
import { expectExactMirror } from '../support/oracle.ts';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

// Pages that come as the mirror remembers them are not parsed. An answer that is refused shows nothing, although its page is known.

test.each(['"partial":true', '"errors":["shard 3 did not answer"]', '"success":false'])(
  'a remembered page with %s beside its items does not show that a dead record is there',
  async member => {
    await using scene = await setScene({ maxPageSize: 100 }, { exports: 400 });
    const exports = scene.service.lists['document-exports'];
    const old = [...exports];
    expect(await syncScene(scene)).toMatchObject({ code: 0 });
    const at = 250;
    exports.splice(at, 1);
    const refused: string[] = [];
    scene.service.options.rawBody = (resource, pageNo, pageSize) => {
      const size = Math.min(pageSize, 100);
      const from = (pageNo - 1) * size;
      const address = `${pageNo} of ${size}`;
      if (resource !== 'document-exports' || from > at || from + size <= at || refused.includes(address))
        return undefined;
      refused.push(address);
      const pagination = { pageCount: Math.ceil(400 / size), pageNo, pageSize: size, totalRecordCount: 400 };
      const items = JSON.stringify(old.slice(from, from + size));
      return `{"items":${items},${member},"pagination":${JSON.stringify(pagination)}}`;
    };
    const synced = await syncScene(scene);
    expect(refused.length).toBeGreaterThan(0);
    expect({ code: synced.code, ...synced.of('document-exports') }).toMatchObject({
      code: 0,
      completeness: 'proven',
      inserted: 0,
      updated: 0,
      removed: 1,
    });
    expect(sqlite(scene.database, 'SELECT count(*) AS n FROM document_exports')).toEqual([{ n: 399 }]);
    expectExactMirror(scene.database, scene.service);
  },
);
