import { createHash } from "node:crypto";
import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { projectForNew } from "./project-of-repository.store.ts";
import { repositoryName } from "./repository-name.ts";

const Name = z.object({ name: z.string() });

/**
 * Returns the name of the repository at a URL, and stores it if it is new.
 *
 * If two repositories would get the same name, the later one's name ends in a part of the hash of its URL.
 */
export async function nameRepository(tx: Tx, url: string): Promise<string> {
  const known = () => tx.many(Name, sql`select name from repository where url = ${url}`);
  const [found] = await known();
  if (found !== undefined) return found.name;
  const { plain, marked } = namesFor(url);
  for (const name of [plain, marked]) {
    // Whichever constraint fails, the existing rows decide what to do.
    await tx.run(
      sql`
        insert into repository (name, url, project)
        values (${name}, ${url}, ${await projectForNew(tx, name)}) on conflict do nothing
      `,
    );
    const [row] = await known();
    if (row !== undefined) return row.name;
  }
  return marked;
}

/** Returns the name that `nameRepository` would give to a URL at this moment. Stores nothing. */
export async function proposedName(tx: Tx, url: string): Promise<string> {
  const { plain, marked } = namesFor(url);
  const taken = await tx.many(
    z.object({ name: z.string(), url: z.string() }),
    sql`select name, url from repository where url = ${url} or name = ${plain}`,
  );
  const own = taken.find((row) => row.url === url);
  if (own !== undefined) return own.name;
  return taken.length === 0 ? plain : marked;
}

function namesFor(url: string): { readonly plain: string; readonly marked: string } {
  const plain = repositoryName(url);
  const hash = createHash("sha256").update(url).digest("hex").slice(0, 8);
  return { plain, marked: `${plain}-${hash}` };
}
