import { createHash } from "node:crypto";
import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { repositoryName } from "./repository-name.ts";

const Name = z.object({ name: z.string() });

/**
 * The name of the repository at a URL; it is known from now on.
 *
 * Of two repositories that would be called the same, the later one's name ends
 * in a piece of the hash of its URL.
 */
export async function nameRepository(tx: Tx, url: string): Promise<string> {
  const known = () => tx.many(Name, sql`select name from repository where url = ${url}`);
  const [found] = await known();
  if (found !== undefined) return found.name;
  const plain = repositoryName(url);
  const marked = `${plain}-${createHash("sha256").update(url).digest("hex").slice(0, 8)}`;
  for (const name of [plain, marked]) {
    // Whichever constraint it runs into, the rows that are there tell what to do.
    await tx.run(
      sql`insert into repository (name, url) values (${name}, ${url}) on conflict do nothing`,
    );
    const [row] = await known();
    if (row !== undefined) return row.name;
  }
  return marked;
}
