import type { ListDefinition, ResourceName } from '../contract/lists.ts';

/** Where the served records come from: a mirror, or anything else that can turn to a page of a list. */
export interface RecordSource {
  /** Some of a list's records from `offset` on, each as JSON text in the service's shape; none past the end. */
  page(list: ListDefinition, offset: number, limit: number): RecordPage;
  /** Changes whenever any record may have; left out where nothing is known of that. */
  revision?(): string;
}

/** Records of a list and how many there are in all, as they stood at one moment. */
export interface RecordPage {
  readonly records: readonly string[];
  readonly totalRecordCount: number;
}

/** Serves lists that are held in memory; `current` is asked for each page, so the lists may be replaced meanwhile. */
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
