import { z } from "zod";
import { Components } from "#artifacts/component.ts";
import { type Digest, parseDigestKey } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Row = z.object({ components: Components });

/** Returns tarballs of artifacts that will be measured, and of those with which they are compared. */
export async function tarballsUnderWay(tx: Tx): Promise<Digest[]> {
  const rows = await tx.many(
    Row,
    sql`
      select artifact.components
      from benchmark_request as request
      join benchmark_artifact as artifact on artifact.id in (request.artifact_id, request.parent_id)
      where request.state in ('waiting-for-artifacts', 'artifacts-ready', 'in-progress')
    `,
  );
  return rows.flatMap(({ components }) =>
    Object.values(components).flatMap((each) =>
      each.kind === "blob" ? [parseDigestKey(each.digest)] : [],
    ),
  );
}
