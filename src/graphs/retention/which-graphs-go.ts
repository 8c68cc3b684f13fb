import { fitsStars } from "#core/star-pattern.ts";

/** How long graphs of some branches are kept. */
export interface GraphRule {
  /** A repository's name, or `*`. */
  readonly repository: string;
  /** A pattern with stars, or `@protected`. */
  readonly branch: string;
  /** How long graphs are kept after their end, in milliseconds; undefined: forever. */
  readonly keepMs: number | undefined;
  /** The number of newest graphs per branch that are kept regardless of age. */
  readonly keepNewest: number;
  /**
   * The highest number of graphs per branch; older ones beyond it are deleted regardless of age. Undefined: no limit.
   */
  readonly most: number | undefined;
}

export const protectedBranches = "@protected";

/** The facts that decide whether a graph is deleted. */
export interface GraphFacts {
  readonly id: string;
  readonly repository: string;
  readonly branch: string;
  readonly isProtected: boolean;
  /** Undefined while it runs. */
  readonly finishedAt: Date | undefined;
  /** The number of newer graphs of the branch, without subgraphs; counted up to a limit above every rule's numbers. */
  readonly newer: number;
  /** Whether it has a label, or a running search over commits needs it. */
  readonly isHeld: boolean;
  /** It is the graph of a job of another: it is deleted with that one, regardless of the rules. */
  readonly isSubgraph: boolean;
  /**
   * Graphs that refer to it: its subgraphs and clones, its parent graph, others of its set, and hits of its results.
   */
  readonly neededBy: readonly string[];
  /** Whether there are more such graphs than could be listed. */
  readonly isNeededByMore: boolean;
}

/** Returns the rule for a branch; undefined when its graphs are never deleted. */
export function ruleFor(
  rules: readonly GraphRule[],
  of: Pick<GraphFacts, "repository" | "branch" | "isProtected">,
): GraphRule | undefined {
  const fitting = rules.filter(
    ({ repository, branch }) =>
      (repository === "*" || repository === of.repository) &&
      (branch === protectedBranches ? of.isProtected : fitsStars(branch.split("*"), of.branch)),
  );
  return fitting.toSorted((a, b) => specificity(b) - specificity(a))[0];
}

/**
 * A branch is more specific than a repository: a rule for all branches of one repository does not shorten the life of
 * its protected branches. A pattern is more specific if it has more letters.
 */
function specificity({ repository, branch }: GraphRule): number {
  const ofBranch =
    branch === "*" ? 0 : branch === protectedBranches ? 1 : 2 + branch.replaceAll("*", "").length;
  return ofBranch * 2 + (repository === "*" ? 0 : 1);
}

/** Returns whether a graph has expired by the rules, regardless of references to it. */
export function isExpired(rules: readonly GraphRule[], facts: GraphFacts, now: Date): boolean {
  const { finishedAt, newer, isHeld, isSubgraph } = facts;
  if (finishedAt === undefined || isHeld) return false;
  if (isSubgraph) return true;
  const rule = ruleFor(rules, facts);
  if (rule === undefined) return false;
  if (rule.most !== undefined && newer >= rule.most) return true;
  if (newer < rule.keepNewest || rule.keepMs === undefined) return false;
  return now.getTime() - finishedAt.getTime() >= rule.keepMs;
}

/**
 * Chooses the graphs to delete: expired ones that are needed only by graphs that are also deleted.
 *
 * Returns groups in an order in which they can be deleted: each group is deleted at once, and no remaining graph needs
 * one of its graphs. Graphs of a group need each other, as a graph and its subgraphs do. A graph that `facts` lacks
 * stays.
 */
export function whichGraphsGo(
  rules: readonly GraphRule[],
  facts: readonly GraphFacts[],
  now: Date,
): string[][] {
  const going = new Map(
    facts
      .filter((each) => !each.isNeededByMore && isExpired(rules, each, now))
      .map((each) => [each.id, each.neededBy.filter((id) => id !== each.id)]),
  );
  for (let before = -1; before !== going.size; ) {
    before = going.size;
    for (const [id, neededBy] of going) {
      if (neededBy.some((other) => !going.has(other))) going.delete(id);
    }
  }
  return stronglyConnected(going);
}

/** Tarjan's algorithm. Returns components; each comes after the components that its members lead to. */
function stronglyConnected(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const path: string[] = [];
  const onPath = new Set<string>();
  const groups: string[][] = [];

  const visit = (id: string) => {
    const own = index.size;
    index.set(id, own);
    low.set(id, own);
    path.push(id);
    onPath.add(id);
    for (const next of edges.get(id) ?? []) {
      if (!index.has(next)) visit(next);
      if (onPath.has(next)) low.set(id, Math.min(low.get(id) ?? own, low.get(next) ?? own));
    }
    if (low.get(id) !== own) return;
    const group = path.splice(path.indexOf(id));
    for (const member of group) onPath.delete(member);
    groups.push(group);
  };
  for (const id of edges.keys()) if (!index.has(id)) visit(id);
  return groups;
}
