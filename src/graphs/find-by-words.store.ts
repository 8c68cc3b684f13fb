import { z } from "zod";
import type { FoundObject } from "#api/find.ts";
import { GraphState, JobState } from "#api/job-state.ts";
import type { PlacePatterns } from "#core/place-patterns.ts";
import { containsWords } from "#db/contains-words.ts";
import type { Tx } from "#db/db.ts";
import { hasSomePlace, inPlaces } from "#db/in-places.ts";
import { sql } from "#db/sql.ts";

/** Older graphs are found by their id, or in their repository. */
const graphsRead = 2_000;
/** A graph may have 10,000 jobs. */
const graphsOfJobs = 30;

interface WordsAt {
  /** In lower case; each of them must occur. */
  readonly words: readonly string[];
  /** Only objects at these places. */
  readonly places: PlacePatterns;
  readonly limit: number;
}

type Found<Kind extends FoundObject["kind"]> = Extract<FoundObject, { kind: Kind }>;

export async function findRepositories(
  tx: Tx,
  { words, places, limit }: WordsAt,
): Promise<Found<"repository">[]> {
  const rows = await tx.many(
    z.object({ name: z.string() }),
    sql`
      select name from repository
      where ${hasSomePlace(places, sql`name`)} and ${containsWords(sql`name`, words)}
      order by length(name), name limit ${limit}
    `,
  );
  return rows.map((row) => ({ kind: "repository", ...row }));
}

const GraphRow = z.object({
  id: z.string(),
  repository: z.string(),
  branch: z.string(),
  commit: z.string(),
  subject: z.string(),
  state: GraphState,
});

/** Returns graphs by subject, branch, revision, author and commit, the newest first. */
export async function findGraphs(
  tx: Tx,
  { words, places, limit }: WordsAt,
): Promise<Found<"graph">[]> {
  const searched = sql`concat_ws(' ', subject, repository, branch, rev, author, commit)`;
  const rows = await tx.many(
    GraphRow,
    sql`
      select id, repository, branch, commit, subject, state
      from (
        select id, number, repository, branch, commit, rev, author, subject, state from graph
        where ${inPlaces(places, sql`repository`, sql`branch`)} order by number desc limit ${graphsRead}
      ) as newest
      where ${containsWords(searched, words)}
      order by number desc limit ${limit}
    `,
  );
  return rows.map((row) => ({ kind: "graph", ...row }));
}

/** Returns the graph with an id, if it lies at one of the places. */
export async function findGraphById(
  tx: Tx,
  id: string,
  places: PlacePatterns,
): Promise<Found<"graph">[]> {
  const rows = await tx.many(
    GraphRow,
    sql`
      select id, repository, branch, commit, subject, state from graph
      where id = ${id}::uuid and ${inPlaces(places, sql`repository`, sql`branch`)}
    `,
  );
  return rows.map((row) => ({ kind: "graph", ...row }));
}

const JobRow = z.object({
  graph: z.string(),
  name: z.string(),
  repository: z.string(),
  branch: z.string(),
  state: JobState,
});

/** Returns jobs of the newest graphs by name and repository: of each name the newest one, first those with short names. */
export async function findJobs(tx: Tx, { words, places, limit }: WordsAt): Promise<Found<"job">[]> {
  const rows = await tx.many(
    JobRow,
    sql`
      with newest as materialized (
        select id, number, repository, branch from graph
        where ${inPlaces(places, sql`repository`, sql`branch`)} order by number desc limit ${graphsOfJobs}
      ), found as (
        select distinct on (newest.repository, job.name)
          newest.id, newest.repository, newest.branch, job.name, job.state
        from newest join job on job.graph_id = newest.id
        where ${containsWords(sql`concat_ws(' ', job.name, newest.repository)`, words)}
          and exists (select from unnest(${words}::text[]) as wanted (word) where strpos(lower(job.name), word) > 0)
        order by newest.repository, job.name, newest.number desc
      )
      select id as graph, name, repository, branch, state from found
      order by length(name), name, repository limit ${limit}
    `,
  );
  return rows.map((row) => ({ kind: "job", ...row }));
}
