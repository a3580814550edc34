import type { ResourceName } from '../contract/lists.ts';

/** The items of the lists as the service writes them. */
export interface ConnectionRef {
  readonly id: number;
  readonly name: string;
}

/** A document export, in the shape in which the service sends it. */
export interface DocumentExport {
  readonly sourceConnection: ConnectionRef;
  readonly sourceDocumentTitle: string | null;
  readonly sourceDocumentReference: string;
  readonly sourceDocumentVersion: string | null;
  readonly sourceDocumentKind: string | null;
  readonly destinationConnection: ConnectionRef;
  readonly destinationReference: string | null;
  readonly exportedAt: string;
}

/** A collection, in the shape in which the service sends it. */
export interface Collection {
  readonly id: number;
  readonly name: string;
  readonly sourceConnection: ConnectionRef;
  readonly destinationConnection: ConnectionRef | null;
}

/** A webhook, in the shape in which the service sends it. */
export interface Webhook {
  readonly id: number;
  readonly endpoint: string;
  readonly description: string | null;
  readonly events: readonly string[];
  readonly connections: readonly ConnectionRef[];
}

/** All lists of a sample service; document exports are newest first, as in an export log. */
export interface Sample extends Readonly<Record<ResourceName, readonly object[]>> {
  readonly 'document-exports': readonly DocumentExport[];
  readonly collections: readonly Collection[];
  readonly webhooks: readonly Webhook[];
}
