import { z } from "zod";
import { accessSettingOf } from "#access/access-setting.ts";
import { grantsOf } from "#access/grant.store.ts";
import { anyone } from "#access/principal.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { GraphId } from "./graph-id.ts";
import { projectOfNewRepository } from "./project-of-repository.ts";

const Project = z.object({ project: z.string() });

/** Returns the project that a repository would get if it were new at this moment. */
export async function projectForNew(tx: Tx, repository: string): Promise<string> {
  return projectOfNewRepository(accessSettingOf(await grantsOf(tx, anyone)), repository);
}

/** Returns the project of a repository's next graph; for an unknown repository, the one that it would get. */
export async function projectOfRepository(tx: Tx, repository: string): Promise<string> {
  const [row] = await tx.many(
    Project,
    sql`select project from repository where name = ${repository}`,
  );
  return row?.project ?? projectForNew(tx, repository);
}

/** Returns the project of a graph. Throws `not_found` when there is no such graph. */
export async function projectOfGraph(tx: Tx, graph: GraphId): Promise<string> {
  const [row] = await tx.many(Project, sql`select project from graph where id = ${graph}`);
  if (row === undefined) throw new Fault("not_found", `there is no graph ${graph}`);
  return row.project;
}

/** Sets the project of a repository's next graphs; returns the previous one. Undefined: there is no such repository. */
export async function setProjectOfRepository(
  tx: Tx,
  repository: string,
  project: string,
): Promise<string | undefined> {
  const [before] = await tx.many(
    Project,
    sql`select project from repository where name = ${repository} for update`,
  );
  if (before === undefined) return undefined;
  await tx.run(sql`update repository set project = ${project} where name = ${repository}`);
  return before.project;
}

const Use = z.object({ repository: z.string(), project: z.string() });

/** Returns the repositories with their projects. */
export function projectsOfRepositories(tx: Tx): Promise<z.infer<typeof Use>[]> {
  return tx.many(Use, sql`select name as repository, project from repository order by name`);
}
