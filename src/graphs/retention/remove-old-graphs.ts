import type { Clock } from "#core/clock.ts";
import type { Db, Tx } from "#db/db.ts";
import { isProtectedBranch } from "../catalogs/is-protected-branch.ts";
import {
  deleteGraphs,
  type EndedGraph,
  factsOfGraphs,
  graphsEndedBefore,
  lockForDeletion,
} from "./old-graphs.store.ts";
import { retentionRules } from "./retention-rule.store.ts";
import { type GraphFacts, type GraphRule, whichGraphsGo } from "./which-graphs-go.ts";

const lookedAtOnce = 100;
/** The limit for a graph together with all graphs that refer to it. A larger family is kept. */
const mostTogether = 2_000;

export interface RetentionServices {
  readonly db: Db;
  readonly clock: Clock;
  /** Returns those graphs that other modules still need, such as for a running search. */
  readonly neededElsewhere: (tx: Tx, graphs: readonly string[]) => Promise<readonly string[]>;
  /**
   * Deletes the references of other modules to graphs, in the transaction that deletes the graphs.
   */
  readonly forgetElsewhere: (tx: Tx, graphs: readonly string[]) => Promise<void>;
}

/**
 * The result of a round, with the start of the next one; when `after` is absent, the next round
 * starts at the beginning.
 */
export interface RetentionRound {
  readonly removed: number;
  readonly after: EndedGraph | undefined;
}

/**
 * Deletes graphs that have expired by the rules, the earliest ended first, until all were examined or the time is over.
 *
 * Each group of graphs that need each other is deleted in its own transaction, which locks only their rows: claims and
 * running graphs never wait for it. The facts are checked again under the lock, so any number of servers may do this at
 * once, and a label that is set meanwhile counts.
 */
export async function removeOldGraphs(
  services: RetentionServices,
  goOn?: { readonly after: EndedGraph | undefined; readonly mostMs: number },
): Promise<RetentionRound> {
  const { db, clock } = services;
  const until = performance.now() + (goOn?.mostMs ?? Number.POSITIVE_INFINITY);
  const now = clock.now();
  const rules = (await retentionRules(db)).map(
    ({ keepMs, most, ...rule }): GraphRule => ({
      ...rule,
      keepMs: keepMs ?? undefined,
      most: most ?? undefined,
    }),
  );
  const before = earliestEnd(rules, now);
  if (before === undefined) return { removed: 0, after: undefined };
  let removed = 0;
  let after = goOn?.after;
  for (;;) {
    const page = await graphsEndedBefore(db, before, after, lookedAtOnce);
    const looked = page.map(({ id }) => id);
    const facts = await factsWithFamilies(services, db, looked, rules);
    for (const group of whichGraphsGo(rules, facts, now)) {
      if (await removeGroup(services, group, rules, now)) removed += group.length;
    }
    after = page.at(-1);
    if (page.length < lookedAtOnce) return { removed, after: undefined };
    if (performance.now() >= until) return { removed, after };
  }
}

/** Returns the time after which no ended graph is deleted by any rule; undefined: no graph is deleted. */
function earliestEnd(rules: readonly GraphRule[], now: Date): Date | undefined {
  if (rules.some(({ most }) => most !== undefined)) return now;
  const shortest = Math.min(...rules.map(({ keepMs }) => keepMs ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(shortest) ? new Date(now.getTime() - shortest) : undefined;
}

/**
 * Returns the facts about graphs and about all graphs that refer to them, directly or indirectly, because they can only
 * be deleted together.
 */
async function factsWithFamilies(
  services: RetentionServices,
  tx: Tx,
  ids: readonly string[],
  rules: readonly GraphRule[],
): Promise<GraphFacts[]> {
  const known = new Map<string, GraphFacts>();
  // Each graph is read once: one that another server has deleted since it was named returns no facts.
  const read = new Set<string>();
  let missing: readonly string[] = ids;
  while (missing.length > 0 && known.size < mostTogether) {
    for (const id of missing) read.add(id);
    for (const facts of await factsOf(services, tx, missing, rules)) known.set(facts.id, facts);
    const named = [...known.values()].flatMap(({ neededBy }) => neededBy);
    missing = [...new Set(named)].filter((id) => !read.has(id));
  }
  return [...known.values()];
}

async function factsOf(
  { neededElsewhere }: RetentionServices,
  tx: Tx,
  ids: readonly string[],
  rules: readonly GraphRule[],
): Promise<GraphFacts[]> {
  const counted = rules.map(({ keepNewest, most }) => Math.max(keepNewest, most ?? 0));
  const rows = await factsOfGraphs(tx, ids, 1 + Math.max(0, ...counted));
  const branches = new Map(rows.map((row) => [branchKey(row), row]));
  const guarded = new Map<string, boolean>();
  for (const [key, { repository, branch }] of branches)
    guarded.set(key, await isProtectedBranch(tx, repository, branch));
  const needed = new Set(await neededElsewhere(tx, ids));
  return rows.map((row) => ({
    ...row,
    isHeld: row.isHeld || needed.has(row.id),
    isProtected: guarded.get(branchKey(row)) ?? true,
  }));
}

function branchKey({ repository, branch }: Pick<GraphFacts, "repository" | "branch">): string {
  return JSON.stringify([repository, branch]);
}

/** Returns whether it was deleted: not if one of them was changed or referred to since the choice. */
function removeGroup(
  services: RetentionServices,
  group: readonly string[],
  rules: readonly GraphRule[],
  now: Date,
): Promise<boolean> {
  const { db, forgetElsewhere } = services;
  return db.transaction(async (tx) => {
    const locked = await lockForDeletion(tx, group);
    if (locked.length < group.length) return false;
    // Graphs that needed one of them were deleted in an earlier group, or were changed meanwhile and still exist.
    const still = whichGraphsGo(rules, await factsOf(services, tx, group, rules), now).flat();
    if (!group.every((id) => still.includes(id))) return false;
    await forgetElsewhere(tx, group);
    await deleteGraphs(tx, group);
    return true;
  });
}
