import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "../execution.ts";

const ExecutionImage = z.object({ id: ExecutionId, image: z.string() });

/** Returns the images of executions, by `imageKeyOf`, for those that run in one with a digest. */
export async function imagesOf(
  tx: Tx,
  ids: readonly ExecutionId[],
): Promise<ReadonlyMap<ExecutionId, string>> {
  const rows = await tx.many(
    ExecutionImage,
    sql`select id, image from execution where id = any(${ids}::uuid[]) and image is not null`,
  );
  return new Map(rows.map(({ id, image }) => [id, image]));
}
