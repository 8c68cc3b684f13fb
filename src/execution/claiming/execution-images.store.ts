import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "../execution.ts";

const ExecutionImage = z.object({ id: ExecutionId, images: z.array(z.string()) });

/**
 * Returns the images of executions and of their services, by `imageKeyOf`, for those that have any with a digest. That
 * of the execution itself comes first.
 */
export async function imagesOf(
  tx: Tx,
  ids: readonly ExecutionId[],
): Promise<ReadonlyMap<ExecutionId, readonly string[]>> {
  const rows = await tx.many(
    ExecutionImage,
    sql`
      select id, array_remove(image || service_images, null) as images from execution
      where id = any(${ids}::uuid[]) and (image is not null or service_images <> '{}')
    `,
  );
  return new Map(rows.map(({ id, images }) => [id, images]));
}
