import { z } from "zod";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { suggestion } from "#definitions/nearest-name.ts";
import { parseRepositoryAddress, withoutPassword } from "#git/repository-address.ts";
import { nameRepository } from "../repository.store.ts";

const Name = z.object({ name: z.string() });

/** Returns the name of a repository that the farm knows, by its name or its address; undefined for others. */
export async function knownRepository(tx: Tx, written: string): Promise<string | undefined> {
  const address = withoutPassword(written);
  const found = await tx.many(
    Name,
    sql`
      select name from repository
      where name = ${written} or url in (${address}, ${`${address}/.git`})
      order by name = ${written} desc
      limit 1
    `,
  );
  return found[0]?.name;
}

/**
 * The same; throws `not_found` for others. The message proposes no name, because the caller may not know of the
 * farm's other repositories.
 */
export async function requireRepository(tx: Tx, written: string): Promise<string> {
  const known = await knownRepository(tx, written);
  if (known !== undefined) return known;
  throw unknownRepository(written, "");
}

/**
 * Returns the name of a repository that a caller may know of. Throws `not_found` for others, in the same words whether
 * they exist or not.
 */
export async function requireVisibleRepository(
  tx: Tx,
  written: string,
  isVisible: (repository: string) => boolean,
): Promise<string> {
  const known = await knownRepository(tx, written);
  if (known !== undefined && isVisible(known)) return known;
  const all = await tx.many(Name, sql`select name from repository order by name limit 2000`);
  const visible = all.map(({ name }) => name).filter(isVisible);
  throw unknownRepository(written, suggestion(written, visible));
}

function unknownRepository(written: string, hint: string): Fault {
  return new Fault(
    "not_found",
    `the farm knows no repository ${written}${hint || "; give its path or URL, and it will"}`,
  );
}

/** Like the above, but an unknown address is stored as a new repository. */
export async function repositoryFor(tx: Tx, written: string): Promise<string> {
  const known = await knownRepository(tx, written);
  if (known !== undefined) return known;
  if (!/[/:]/.test(written)) return requireRepository(tx, written);
  const address = parseRepositoryAddress(written, "/");
  return nameRepository(tx, address.kind === "local" ? address.path : withoutPassword(address.url));
}

/** Returns the address from which a known repository can be fetched. */
export async function addressOfRepository(tx: Tx, name: string): Promise<string> {
  const [row] = await tx.many(
    z.object({ url: z.string() }),
    sql`select url from repository where name = ${name}`,
  );
  if (row === undefined) throw new Fault("not_found", `the farm knows no repository ${name}`);
  return row.url;
}
