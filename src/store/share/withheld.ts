import type { RecordValues } from '../../contract/content.ts';
import { cutEndpoint } from '../../contract/endpoint.ts';
import { memberTexts } from '../../contract/exact-json.ts';
import { arrayFields, type ListDefinition, lists, type Scalar, scalarFields } from '../../contract/lists.ts';
import { MirrorFileError } from '../../errors.ts';

/** The field of which a share contains only scheme and host. */
const endpoint = { resource: 'webhooks', name: 'endpoint' } as const;

/** The fields that a share leaves out of the records: named fields, and everything of a webhook's endpoint except scheme and host. */
export class Withheld {
  /** By list, the names of the fields that are left out completely. */
  readonly #fields: ReadonlyMap<string, ReadonlySet<string>>;

  /** @param fields API field names, for example `sourceDocumentTitle`, or with a list, for example `webhooks.description`. */
  constructor(fields: readonly string[]) {
    const isNamed = (resource: string, name: string) =>
      fields.some(field => field === name || field === `${resource}.${name}`);
    this.#fields = new Map(
      lists.map(({ resource, fields: all }) => [
        resource,
        new Set(all.map(({ name }) => name).filter(name => isNamed(resource, name))),
      ]),
    );
  }

  /** True if a field is left out completely. */
  has({ resource }: ListDefinition, name: string): boolean {
    return this.#fields.get(resource)?.has(name) === true;
  }

  /** True if something of a list's records is left out or cut. */
  isOf({ resource }: ListDefinition): boolean {
    return resource === endpoint.resource || (this.#fields.get(resource)?.size ?? 0) > 0;
  }

  /** True if a field of a list is cut. */
  isCut({ resource }: ListDefinition, name: string): boolean {
    return resource === endpoint.resource && name === endpoint.name;
  }

  /** A record's columns as the share has them. */
  values(list: ListDefinition, { id, scalars, arrays, extra }: RecordValues): RecordValues {
    return {
      id,
      scalars: scalarFields(list).map(({ name }, at) => this.#scalar(list, name, scalars[at] ?? null)),
      arrays: arrayFields(list).map(({ name }, at) => (this.has(list, name) ? [] : (arrays[at] ?? []))),
      extra: this.extra(list, extra),
    };
  }

  #scalar(list: ListDefinition, name: string, value: Scalar): Scalar {
    if (this.has(list, name)) return null;
    return this.isCut(list, name) && typeof value === 'string' ? cutEndpoint(value) : value;
  }

  /**
   * A record's further fields as the share has them. A value that did not fit its column is one of them.
   *
   * @throws MirrorFileError if `extra` is not a JSON object.
   */
  extra(list: ListDefinition, extra: string | null): string | null {
    if (extra === null) return null;
    const kept = membersOf(list, extra).filter(([name]) => !this.has(list, name) && !this.isCut(list, name));
    return kept.length === 0 ? null : objectOf(kept);
  }

  /**
   * An ended version, as JSON in the service's shape, as the share has it. Fields that are not left out keep their text.
   *
   * @throws MirrorFileError if it is not a JSON object.
   */
  record(list: ListDefinition, json: string): string {
    const isArray = (name: string) => arrayFields(list).some(field => field.name === name);
    return objectOf(
      membersOf(list, json).map(([name, text]) => {
        if (this.has(list, name)) return [name, isArray(name) ? '[]' : 'null'];
        return [name, this.isCut(list, name) ? cutText(text) : text];
      }),
    );
  }
}

type Member = readonly [name: string, text: string];

function membersOf({ resource }: ListDefinition, json: string): Member[] {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return [...memberTexts(json)];
  } catch {
    // The message does not show its text, because it can be a secret.
  }
  throw new MirrorFileError(
    `The mirror contains a record of ${resource} that docmirror did not write. "docmirror verify" shows where.`,
  );
}

function objectOf(members: readonly Member[]): string {
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}

function cutText(text: string): string {
  const value: unknown = JSON.parse(text);
  return JSON.stringify(typeof value === 'string' ? cutEndpoint(value) : null);
}
