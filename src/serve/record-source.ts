import type { ListDefinition, ResourceName } from '../contract/lists.ts';
import type { RecordPage } from '../store/read/mirror-reader.ts';

/** The source of the served records: a mirror, or anything else that can give a page of a list. */
export interface RecordSource {
  /** Some of a list's records from `offset` on, each as JSON text in the service's shape; none past the end. */
  page(list: ListDefinition, offset: number, limit: number): RecordPage;
  /** A text that changes whenever a record might have changed. A source that can't tell leaves it out. */
  revision?(): string;
}

/** Serves lists from memory. `current` is called for each page, so the lists can be replaced meanwhile. */
export function arraySource(current: () => Readonly<Record<ResourceName, readonly object[]>>): RecordSource {
  return {
    page({ resource }, offset, limit) {
      const records = current()[resource];
      return {
        records: records.slice(offset, offset + limit).map(record => JSON.stringify(record)),
        totalRecordCount: records.length,
      };
    },
  };
}
