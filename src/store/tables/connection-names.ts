import type Database from 'better-sqlite3';
import { and, eq, inArray, notInArray, sql } from 'drizzle-orm';
import { lists, type ResourceName, resourceNames } from '../../contract/lists.ts';
import { type ConnectionClaim, type ConnectionClaims, compareTimes } from './connection-claims.ts';
import { columnsOf, type NameAndExtra, saidIn } from './connection-columns.ts';
import { connectionNames, connections } from './schema.ts';
import { prepare, prepareValue, select, words } from './statement.ts';

/** The name and further fields that a list gives to a connection. */
export interface Given extends NameAndExtra {
  /** The time of the record that gave the name. */
  readonly namedAt: string | null;
}

const {
  resource: ofList,
  connectionId,
  name: givenName,
  extra: givenExtra,
  namedAt: givenAt,
} = connectionNames;
const given = { name: givenName, extra: givenExtra };

/** The lists by how much their names count. */
const ranks = new Map<string, number>(lists.map(list => [list.resource, list.connectionNameRank]));

const isOne = (resource: string, id: number) => and(eq(ofList, resource), eq(connectionId, id));
const readOne = (resource: string, id: number) =>
  select({ ...given, namedAt: givenAt })
    .from(connectionNames)
    .where(isOne(resource, id));
const removeOne = (resource: string, id: number) => words.delete(connectionNames).where(isOne(resource, id));
const mentionedBy = (resource: string) =>
  select({ id: connectionId }).from(connectionNames).where(eq(ofList, resource));
const givenTo = (id: number) =>
  select({ resource: ofList, ...given })
    .from(connectionNames)
    .where(and(inArray(ofList, resourceNames), eq(connectionId, id)));
const isOther = sql`(${givenName}, ${givenExtra}, ${givenAt}) is not (excluded.name, excluded._extra, excluded.named_at)`;
const write = (
  resource: string,
  id: number,
  name: string | null,
  extra: string | null,
  namedAt: string | null,
) =>
  words
    .insert(connectionNames)
    .values({ resource, connectionId: id, name, extra, namedAt })
    .onConflictDoUpdate({
      target: [ofList, connectionId],
      set: { name: sql`excluded.name`, extra: sql`excluded._extra`, namedAt: sql`excluded.named_at` },
      setWhere: isOther,
    });

/** The name and further fields that each list gives to each connection, by prepared statements. */
export class ConnectionNames {
  readonly #sqlite: Database.Database;
  readonly #read: Database.Statement<[resource: string, id: number], Given>;
  readonly #write: Database.Statement<Parameters<typeof write>>;
  readonly #remove: Database.Statement<[resource: string, id: number]>;
  readonly #mentionedBy: Database.Statement<[resource: string], number>;
  readonly #givenTo: Database.Statement<[id: number], NameAndExtra & { readonly resource: string }>;

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
    this.#read = prepare(sqlite, readOne);
    this.#write = prepare(sqlite, write);
    this.#remove = prepare(sqlite, removeOne);
    this.#mentionedBy = prepareValue(sqlite, mentionedBy);
    this.#givenTo = prepare(sqlite, givenTo);
  }

  /**
   * The names that a list gives once its claims are noted, by connection; null for one that it mentions no more.
   *
   * @param isWhole whether the claims are all of the list's: they then replace the noted ones. Otherwise newer ones are added.
   */
  after(resource: ResourceName, claims: ConnectionClaims, isWhole: boolean): Map<number, Given | null> {
    const after = new Map<number, Given | null>();
    for (const claim of claims) {
      const known = isWhole ? undefined : this.#given(resource, claim.id);
      after.set(claim.id, known === undefined ? givenBy(claim) : withNewer(known, claim));
    }
    if (isWhole) for (const id of this.#mentionedBy.all(resource)) if (!after.has(id)) after.set(id, null);
    return after;
  }

  /** The name and the further fields of a connection, each from the first list that gives any, if a list gives these. */
  believedOf(id: number, resource: ResourceName, own: Given | null): NameAndExtra {
    const others = this.#givenTo.all(id).filter(each => each.resource !== resource);
    const given = [...others, ...(own === null ? [] : [{ ...own, ...columnsOf(own), resource }])]
      .sort((a, b) => (ranks.get(b.resource) ?? 0) - (ranks.get(a.resource) ?? 0))
      .map(saidIn);
    const name = given.find(each => each.name !== null)?.name ?? null;
    const extra = given.find(each => each.extra !== null)?.extra ?? null;
    return { name, extra };
  }

  /** Notes what `after` has returned. */
  note(resource: ResourceName, after: ReadonlyMap<number, Given | null>): void {
    for (const [id, given] of after) {
      if (given === null) {
        this.#remove.run(resource, id);
        continue;
      }
      const { name, extra } = columnsOf(given);
      this.#write.run(resource, id, name, extra, given.namedAt);
    }
  }

  /** Removes the claims about connections that have no row any more. */
  removeOfGone(): void {
    const standing = words.select({ id: connections.id }).from(connections);
    prepare(this.#sqlite, () =>
      words.delete(connectionNames).where(notInArray(connectionId, standing)),
    ).run();
  }

  removeAll(): void {
    prepare(this.#sqlite, () => words.delete(connectionNames)).run();
  }

  #given(resource: ResourceName, id: number): Given | undefined {
    const row = this.#read.get(resource, id);
    return row && { ...saidIn(row), namedAt: row.namedAt };
  }
}

function givenBy({ name, extra, time }: ConnectionClaim): Given {
  return { name, extra, namedAt: name === null ? null : time };
}

/** The known name and further fields, replaced by those of the claim that are not older than the known name. */
function withNewer(known: Given, claim: ConnectionClaim): Given {
  const isName = claim.name !== null && compareTimes(claim.time, known.namedAt) >= 0;
  const isExtra =
    claim.extra !== null && (known.extra === null || compareTimes(claim.extraTime, known.namedAt) >= 0);
  return {
    name: isName ? claim.name : known.name,
    namedAt: isName ? claim.time : known.namedAt,
    extra: isExtra ? claim.extra : known.extra,
  };
}
