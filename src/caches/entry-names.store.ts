import { z } from "zod";
import { CacheTool } from "#api/tool-cache.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Name = z.object({ tool: CacheTool, key: z.string() });
type NameInProject = z.infer<typeof Name>;

/** Returns the names of a project's entries in these domains, in order, starting behind `after`. */
export function entryNames(
  tx: Tx,
  project: string,
  domains: readonly TrustDomain[],
  { after, most }: { readonly after: { tool: string; key: string }; readonly most: number },
): Promise<NameInProject[]> {
  return tx.many(
    Name,
    sql`
      select distinct tool, key
      from cache_entry
      where project = ${project} and domain = any(${domains}::text[]) and (tool, key) > (${after.tool}, ${after.key}) and not quarantined
      order by tool, key
      limit ${most}
    `,
  );
}

/** Returns names of entries that were made or used within the last seconds, up to a limit. */
export function entryNamesUsedWithin(
  tx: Tx,
  project: string,
  domains: readonly TrustDomain[],
  { seconds, most }: { readonly seconds: number; readonly most: number },
): Promise<NameInProject[]> {
  return tx.many(
    Name,
    sql`
      select tool, key
      from cache_entry
      where last_used_at >= now() - make_interval(secs => ${seconds})
        and project = ${project} and domain = any(${domains}::text[]) and not quarantined
      limit ${most}
    `,
  );
}
