import type Database from 'better-sqlite3';
import { and, desc, eq, inArray, notInArray, sql } from 'drizzle-orm';
import { lists, type ResourceName, resourceNames } from '../../contract/lists.ts';
import { type ConnectionClaim, type ConnectionClaims, compareTimes } from './connection-claims.ts';
import { columnsOf, type NameAndExtra, saidIn } from './connection-columns.ts';
import { connectionNames, connections } from './schema.ts';
import { prepare, prepareValue, select, words } from './statement.ts';

/** The name and further fields that a list gives to a connection. */
interface Given extends NameAndExtra {
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

/** The lists in the order in which their names count. */
const rank = sql.join(
  [
    sql`case ${ofList}`,
    ...lists.map(({ resource, connectionNameRank }) => sql`when ${resource} then ${connectionNameRank}`),
    sql`end`,
  ],
  sql` `,
);

const isOne = (resource: string, id: number) => and(eq(ofList, resource), eq(connectionId, id));
const readOne = (resource: string, id: number) =>
  select({ ...given, namedAt: givenAt })
    .from(connectionNames)
    .where(isOne(resource, id));
const removeOne = (resource: string, id: number) => words.delete(connectionNames).where(isOne(resource, id));
const mentionedBy = (resource: string) =>
  select({ id: connectionId }).from(connectionNames).where(eq(ofList, resource));
const givenTo = (id: number) =>
  select(given)
    .from(connectionNames)
    .where(and(inArray(ofList, resourceNames), eq(connectionId, id)))
    .orderBy(desc(rank));
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
  readonly #givenTo: Database.Statement<[id: number], NameAndExtra>;

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
    this.#read = prepare(sqlite, readOne);
    this.#write = prepare(sqlite, write);
    this.#remove = prepare(sqlite, removeOne);
    this.#mentionedBy = prepareValue(sqlite, mentionedBy);
    this.#givenTo = prepare(sqlite, givenTo);
  }

  /** The name and the further fields of a connection, each from the first list that gives any. */
  believedOf(id: number): NameAndExtra {
    const given = this.#givenTo.all(id).map(saidIn);
    const name = given.find(each => each.name !== null)?.name ?? null;
    const extra = given.find(each => each.extra !== null)?.extra ?? null;
    return { name, extra };
  }

  /**
   * Notes the claims of a list.
   *
   * @param isWhole whether the claims are all of the list's: they then replace the noted ones. Otherwise newer ones are added.
   * @returns the connections whose claims were added, replaced or removed.
   */
  note(resource: ResourceName, claims: ConnectionClaims, isWhole: boolean): Set<number> {
    const ids = new Set<number>();
    for (const claim of claims) {
      const known = isWhole ? undefined : this.#given(resource, claim.id);
      const { extra, name, namedAt } = known === undefined ? givenBy(claim) : withNewer(known, claim);
      const columns = columnsOf({ name, extra });
      this.#write.run(resource, claim.id, columns.name, columns.extra, namedAt);
      ids.add(claim.id);
    }
    if (!isWhole) return ids;
    for (const id of this.#mentionedBy.all(resource)) {
      if (ids.has(id)) continue;
      this.#remove.run(resource, id);
      ids.add(id);
    }
    return ids;
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
