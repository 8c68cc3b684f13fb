import { z } from "zod";
import { BranchBody, type BranchChange, type ResolvedBranch } from "#api/branch.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { allBranches, resolveBranch } from "./branch-definition.ts";

const Body = z.object({ branch: z.string(), body: BranchBody.nullable() });

/**
 * Returns the definition of a branch of a repository, from its own entry and that of all branches.
 *
 * The empty branch is that of commits without a named branch: only the entry of all branches applies.
 */
export async function branchDefinition(
  tx: Tx,
  repository: string,
  branch: string,
): Promise<ResolvedBranch> {
  const { generic, own } = await saidOfBranch(tx, repository, branch);
  return resolveBranch(generic, own);
}

/** Returns the entries of a branch itself and of all branches; undefined for a missing one. */
export async function saidOfBranch(
  tx: Tx,
  repository: string,
  branch: string,
): Promise<{ readonly generic: BranchBody | undefined; readonly own: BranchBody | undefined }> {
  const rows = await tx.many(
    Body,
    sql`
      select distinct on (branch) branch, body
      from branch_definition
      where repository = ${repository} and branch in (${allBranches}, ${branch})
      order by branch, number desc
    `,
  );
  const of = (name: string) => rows.find((row) => row.branch === name)?.body ?? undefined;
  return { generic: of(allBranches), own: branch === allBranches ? undefined : of(branch) };
}

/** Returns the branches of a repository that have settings, including `*`. */
export async function definedBranches(tx: Tx, repository: string): Promise<string[]> {
  const rows = await tx.many(
    Body,
    sql`
      select distinct on (branch) branch, body
      from branch_definition
      where repository = ${repository}
      order by branch, number desc
    `,
  );
  return rows.filter(({ body }) => body !== null).map(({ branch }) => branch);
}

const Change = z.object({
  number: z.number(),
  body: BranchBody.nullable(),
  setBy: z.string(),
  why: z.string().nullable(),
  setAt: z.date().transform((date) => date.toISOString()),
});

/** Returns every change of a branch's entry, the newest first. */
export function branchHistory(tx: Tx, repository: string, branch: string): Promise<BranchChange[]> {
  return tx.many(
    Change,
    sql`
      select number, body, set_by as "setBy", why, set_at as "setAt"
      from branch_definition
      where repository = ${repository} and branch = ${branch}
      order by number desc
      limit 200
    `,
  );
}

interface NewBranchDefinition {
  readonly repository: string;
  readonly branch: string;
  /** Null removes the entry. */
  readonly body: BranchBody | null;
  readonly setBy: string;
  readonly why: string | undefined;
  /** The change on which this one is based; not checked when undefined. */
  readonly after: number | undefined;
}

/** Stores the entry of a branch. Throws `aborted` when another change was faster. */
export async function setBranchDefinition(tx: Tx, change: NewBranchDefinition): Promise<void> {
  const { repository, branch } = change;
  // Without the lock, two simultaneous changes would both be "after" the same one.
  await tx.run(sql`select name from repository where name = ${repository} for update`);
  const [newest] = await branchHistory(tx, repository, branch);
  if (change.after !== undefined && newest !== undefined && newest.number !== change.after) {
    throw new Fault(
      "aborted",
      `${newest.setBy} has changed ${branch} of ${repository} meanwhile; look at it again, and repeat what is still wanted`,
    );
  }
  await tx.run(sql`
    insert into branch_definition (repository, branch, body, set_by, why)
    values (${repository}, ${branch}, ${change.body === null ? null : JSON.stringify(change.body)}::jsonb,
            ${change.setBy}, ${change.why ?? null})
  `);
}
