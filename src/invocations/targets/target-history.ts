import type { TargetInBuild } from "#api/invocation-targets.ts";
import type { Db } from "#db/db.ts";
import { outcomeOfTarget } from "./outcome-of-target.ts";
import { buildsOfTarget, targetFacts } from "./target-facts.store.ts";

/** Returns how a target went in the newest builds of a project, the newest first. */
export function targetHistory(
  db: Db,
  query: { readonly project: string; readonly label: string; readonly limit: number },
): Promise<TargetInBuild[]> {
  const { project, label } = query;
  return db.transaction(async (tx) => {
    const builds = await buildsOfTarget(tx, query);
    const invocations = builds.map(({ invocation }) => invocation);
    const facts = await targetFacts(tx, { project, invocations, labels: [label] });
    const own = new Map(
      facts.filter(({ aspect }) => aspect === "").map((each) => [each.invocation, each]),
    );
    return builds.flatMap((build) => {
      const found = own.get(build.invocation);
      return found === undefined
        ? []
        : [{ ...build, success: found.success, ...outcomeOfTarget(found) }];
    });
  });
}
