import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { ExecutionId } from "./execution.ts";

const Row = z.object({ project: z.string() });

export async function projectOfExecution(tx: Tx, id: ExecutionId): Promise<string | undefined> {
  const [row] = await tx.many(Row, sql`select project from execution where id = ${id}`);
  return row?.project;
}
