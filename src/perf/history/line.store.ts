import { z } from "zod";
import { RequestKind } from "#api/benchmark-request.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const LineArtifact = z.object({
  id: z.number(),
  tag: z.string(),
  kind: RequestKind,
  datedAt: z.date(),
  commit: z.string().nullable(),
  parentId: z.number().nullable(),
});
export type LineArtifact = z.infer<typeof LineArtifact>;

const columns = sql`
  artifact.id, artifact.tag, artifact.kind, artifact.dated_at as "datedAt", artifact.commit_sha as commit,
  artifact.parent_id as "parentId"
`;
const isMeasured = sql`exists (select from benchmark_measured where artifact_id = artifact.id)`;

export async function artifactByTag(
  tx: Tx,
  suite: string,
  tag: string,
): Promise<LineArtifact | undefined> {
  const [artifact] = await tx.many(
    LineArtifact,
    sql`select ${columns} from benchmark_artifact as artifact where suite = ${suite} and tag = ${tag}`,
  );
  return artifact;
}

export async function artifactById(tx: Tx, id: number): Promise<LineArtifact | undefined> {
  const [artifact] = await tx.many(
    LineArtifact,
    sql`select ${columns} from benchmark_artifact as artifact where id = ${id}`,
  );
  return artifact;
}

/** Returns the last artifact of the main line that has a figure. */
export async function newestMeasured(tx: Tx, suite: string): Promise<LineArtifact | undefined> {
  const [artifact] = await tx.many(
    LineArtifact,
    sql`
      select ${columns} from benchmark_artifact as artifact
      where suite = ${suite} and kind = 'master' and ${isMeasured}
      order by dated_at desc, tag desc limit 1
    `,
  );
  return artifact;
}

export async function isMeasuredAtAll(tx: Tx, id: number): Promise<boolean> {
  const found = await tx.many(
    z.object({ id: z.number() }),
    sql`select artifact.id from benchmark_artifact as artifact where id = ${id} and ${isMeasured}`,
  );
  return found.length > 0;
}

/** Returns artifacts of the main line before an artifact that have figures, the nearest first. */
export function measuredBefore(tx: Tx, suite: string, of: LineArtifact, most: number) {
  return tx.many(
    LineArtifact,
    sql`
      select ${columns} from benchmark_artifact as artifact
      where suite = ${suite} and kind = 'master' and (dated_at, tag) < (${of.datedAt}, ${of.tag}) and ${isMeasured}
      order by dated_at desc, tag desc limit ${most}
    `,
  );
}

/** Returns the nearest measured artifact of the same kind after an artifact; a try build is on no line. */
export async function measuredAfter(
  tx: Tx,
  suite: string,
  of: LineArtifact,
): Promise<LineArtifact | undefined> {
  if (of.kind === "try") return undefined;
  const [next] = await tx.many(
    LineArtifact,
    sql`
      select ${columns} from benchmark_artifact as artifact
      where suite = ${suite} and kind = ${of.kind} and (dated_at, tag) > (${of.datedAt}, ${of.tag}) and ${isMeasured}
      order by dated_at, tag limit 1
    `,
  );
  return next;
}

/** Returns the nearest measured artifact of the same kind before an artifact. */
export async function measuredJustBefore(
  tx: Tx,
  suite: string,
  of: LineArtifact,
): Promise<LineArtifact | undefined> {
  if (of.kind === "try") return undefined;
  const [last] = await tx.many(
    LineArtifact,
    sql`
      select ${columns} from benchmark_artifact as artifact
      where suite = ${suite} and kind = ${of.kind} and (dated_at, tag) < (${of.datedAt}, ${of.tag}) and ${isMeasured}
      order by dated_at desc, tag desc limit 1
    `,
  );
  return last;
}
