import type { Quarantine } from "#api/granary.ts";
import type { Db } from "#db/db.ts";
import { buildsGiven, type GivenResult } from "./granary-build.store.ts";
import { type Quarantined, quarantinedResults } from "./quarantine.store.ts";

const mostListed = 100;
const mostBuilds = 50;

/** A project's results in quarantine, with the builds that received them: these may have to be made again. */
export async function quarantinePage(db: Db, project: string): Promise<Quarantine> {
  const results = await quarantinedResults(db, project, mostListed);
  const given = await buildsGiven(db, project, results);
  return { results: results.map((result) => onPage(result, given)) };
}

function onPage(
  { namespace, key, ...result }: Quarantined,
  given: readonly GivenResult[],
): Quarantine["results"][number] {
  const its = given.filter((one) => one.namespace === namespace && one.key === key);
  return {
    ...result,
    givenTo: its
      .slice(0, mostBuilds)
      .map(({ id, machine, commit, at }) => ({ build: id, machine, commit, at })),
    madeFrom: its.reduce((sum, { made }) => sum + made, 0),
  };
}
