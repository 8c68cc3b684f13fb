import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Id = z.object({ id: z.number().int() });

export async function environmentIdOf(tx: Tx, fingerprint: string): Promise<number> {
  const [row] = await tx.many(
    Id,
    sql`select id from benchmark_environment where fingerprint = ${fingerprint}`,
  );
  if (row === undefined) throw new Error(`no environment has the fingerprint ${fingerprint}`);
  return row.id;
}

/** Returns the number of iterations of a case of an artifact on machines of one kind. */
export async function iterationsStored(
  tx: Tx,
  of: { readonly artifactId: number; readonly caseId: number; readonly environmentId: number },
): Promise<number> {
  const [row] = await tx.many(
    z.object({ iterations: z.number().int() }),
    sql`select iterations from benchmark_result
        where artifact_id = ${of.artifactId} and case_id = ${of.caseId} and environment_id = ${of.environmentId}`,
  );
  return row?.iterations ?? 0;
}

/** Serialises transactions that create or extend a suite of imports: a suite that does not exist has no row to lock. */
export async function lockSuiteOfImports(tx: Tx, name: string): Promise<void> {
  await tx.run(
    sql`select pg_advisory_xact_lock(hashtext('grange suite of imports'), hashtext(${name}))`,
  );
}
