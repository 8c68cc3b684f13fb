import type { Principal } from "#access/principal.ts";
import { CommitSha } from "#core/commit-sha.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { fillTemplates } from "#definitions/fill-templates.ts";
import { addSubmodules, markSubmodules } from "../add-submodules.ts";
import { branchDefinition } from "../catalogs/branch-definition.store.ts";
import { graphDefinitions, withPlaces } from "../catalogs/graph-definitions.ts";
import { type Plan, plan } from "../plan.ts";
import { planForOutsiders } from "../plan-for-outsiders.ts";
import { resolveSources } from "../resolve-sources.ts";
import type { SubmissionServices } from "../submitting/submission.ts";
import type { OriginalGraph } from "./clone.store.ts";

/** The graph that an old commit would have now. */
export interface PresentPlan {
  readonly plan: Plan;
  readonly templateCatalog: string;
  readonly definitionsTree: string | undefined;
  /** Stores the definitions from which the plan was made. */
  keep(tx: Tx): Promise<void>;
}

/**
 * Plans graphs again from the present definitions of their branches.
 *
 * Given parameters and switches are kept if today's definitions still declare them. Jobs that were not requested stay
 * inactive. The limits for outsiders apply as before. Throws a `Fault` when there are no such definitions.
 */
export function planToday(
  services: SubmissionServices,
): (original: OriginalGraph, by: Principal) => Promise<PresentPlan> {
  return async (original, by) => {
    const { repository, branch, rev, subject, committedAt, author } = original;
    const rules = await branchDefinition(services.db, repository, branch);
    const from = await presentDefinitions(services, original, rules, by);
    const context = {
      repository,
      commit: { sha: original.commit, subject, author, committedAt },
      rev,
      branch,
    };
    const place = { url: original.url, sha: CommitSha.parse(original.commit) };
    const { named, selection, given } = original.choice;
    const { parameters, switches } = given ?? original;
    const planned = await withPlaces(from, async (templates) => {
      const wanted = {
        parameters: declaredOnly(parameters, templates.parameters),
        switches: declaredOnly(switches, templates.switches),
        graph: named ?? undefined,
        branch: rules,
      };
      const filled = await fillTemplates(templates, wanted, context, services.evaluator);
      const select = selection ?? undefined;
      return original.outsiders === null
        ? plan(
            await resolveSources(services, await addSubmodules(services, filled, place, by), by),
            select,
          )
        : planForOutsiders(
            await markSubmodules(services, filled, place),
            select,
            original.outsiders,
          );
    });
    return {
      plan: { ...planned, inactive: stillInactive(original, planned) },
      templateCatalog: from.catalog.digest,
      definitionsTree: from.tree,
      keep: (tx) => from.keep(tx),
    };
  };
}

function declaredOnly<Value>(
  values: Readonly<Record<string, Value>>,
  declared: ReadonlyMap<string, unknown>,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => declared.has(name)));
}

/**
 * Returns the jobs that stay inactive: original jobs that were not requested until now, and new jobs that the
 * definitions set inactive.
 */
function stillInactive({ jobs }: OriginalGraph, { inactive }: Plan): Set<string> {
  const then = new Map(jobs.map(({ name, isInactive }) => [name, isInactive]));
  const added = [...inactive].filter((name) => !then.has(name));
  return new Set([...added, ...[...then].flatMap(([name, isOut]) => (isOut ? [name] : []))]);
}

/** Returns the current definitions of the branch; those of the commit, if nothing newer is known. */
async function presentDefinitions(
  services: SubmissionServices,
  { repository, branch, url, commit: sha, outsiders }: OriginalGraph,
  rules: Awaited<ReturnType<typeof branchDefinition>>,
  by: Principal,
) {
  const place = { repository, branch, said: rules, by, isOfOutsiders: outsiders !== null };
  try {
    return await graphDefinitions(services, { ...place, commit: undefined }, {});
  } catch (reason) {
    if (!(reason instanceof Fault) || reason.code !== "failed_precondition") throw reason;
    const commit = await services.mirrors.fetchCommit(url, sha);
    return graphDefinitions(services, { ...place, commit }, {});
  }
}
