import type { InvocationTargets, TargetState } from "#api/invocation-targets.ts";
import type { Db } from "#db/db.ts";
import type { InvocationName } from "../pages/invocation-row.store.ts";
import { outcomeOfTarget } from "./outcome-of-target.ts";
import { pageOfTargets } from "./page-of-targets.ts";
import { earlierBuilds, type TargetFacts, targetFacts } from "./target-facts.store.ts";

/** Columns of the history. */
const mostEarlier = 10;

/** Returns a page of the targets of a build, with how they went in earlier builds of the project. */
export function listTargets(
  db: Db,
  { project, id }: InvocationName,
  filter: {
    readonly state: TargetState | undefined;
    readonly text: string | undefined;
    readonly after: string | undefined;
    readonly limit: number;
  },
): Promise<InvocationTargets> {
  return db.transaction(async (tx) => {
    const all = await targetFacts(tx, { project, invocations: [id], labels: undefined });
    const targets = all.map((facts) => ({
      label: facts.label,
      aspect: facts.aspect,
      kind: facts.kind,
      aborted: facts.aborted,
      ...outcomeOfTarget(facts),
      testActions: facts.testActions,
    }));
    const { count, page, next } = pageOfTargets(targets, filter);
    const builds =
      page.length === 0 ? [] : await earlierBuilds(tx, { project, id, most: mostEarlier });
    const invocations = builds.map(({ invocation }) => invocation);
    const labels = [...new Set(page.map(({ label }) => label))];
    const before = new Map(
      (await targetFacts(tx, { project, invocations, labels })).map((facts) => [
        keyOf(facts.invocation, facts),
        outcomeOfTarget(facts).state,
      ]),
    );
    return {
      earlier: builds,
      count,
      targets: page.map((target) => ({
        ...target,
        earlier: invocations.map((invocation) => before.get(keyOf(invocation, target)) ?? null),
      })),
      next,
    };
  });
}

function keyOf(invocation: string, { label, aspect }: Pick<TargetFacts, "label" | "aspect">) {
  return JSON.stringify([invocation, label, aspect]);
}
