/** The facts that decide the choice of an index. */
export interface IndexCandidate {
  readonly commit: string;
  readonly tree: string;
  readonly branch: string;
  readonly isComplete: boolean;
  readonly updatedAt: Date;
}

/** The build that an index is chosen for: its commit, then its first parents, the nearest first. */
interface IndexFor {
  readonly commits: readonly string[];
  readonly tree: string;
  readonly branch: string;
}

export interface ChosenIndex<Candidate> {
  readonly candidate: Candidate;
  readonly source: "commit" | "tree" | "ancestor" | "branch" | "repository";
  /** The distance in first parents; 0 for all except ancestors. */
  readonly distance: number;
}

const mostChosen = 3;

/**
 * Returns the indexes for a build, the best first: its own, those of the nearest ancestors, the newest of its branch.
 *
 * Its own comes first even when it is incomplete, because its entries will be requested. The branch's newest is last: a
 * build far from its ancestors often needs results that others on the branch have made since.
 */
export function chooseIndexes<Candidate extends IndexCandidate>(
  candidates: readonly Candidate[],
  build: IndexFor,
): ChosenIndex<Candidate>[] {
  const [head, ...parents] = build.commits;
  const own = candidates
    .filter(({ commit }) => commit === head)
    .map((candidate) => ({ candidate, source: "commit", distance: 0 }) as const);
  const sameTree = candidates
    .filter(({ commit, tree }) => commit !== head && tree !== "" && tree === build.tree)
    .toSorted(byCompleteness)
    .map((candidate) => ({ candidate, source: "tree", distance: 0 }) as const);
  const ancestors = chooseBases(candidates, parents).map(
    ({ candidate, distance }) => ({ candidate, source: "ancestor", distance }) as const,
  );
  const ofBranch = candidates
    .filter(({ branch }) => branch !== "" && branch === build.branch)
    .toSorted(byCompleteness)
    .map((candidate) => ({ candidate, source: "branch", distance: 0 }) as const);

  const chosen: ChosenIndex<Candidate>[] = [];
  const take = (from: readonly ChosenIndex<Candidate>[], most: number) => {
    for (const each of from) {
      if (chosen.length >= most) return;
      if (!chosen.some(({ candidate }) => candidate === each.candidate)) chosen.push(each);
    }
  };
  // At most two: one of the client's own trust domain, and one of `protected`.
  take(own, 2);
  take(sameTree, 1);
  const newest = ofBranch.find(({ candidate }) => !chosen.some((it) => it.candidate === candidate));
  const isNear = newest !== undefined && ancestors.some((it) => it.candidate === newest.candidate);
  take(ancestors, newest === undefined || isNear ? mostChosen : mostChosen - 1);
  take(newest === undefined ? [] : [newest], mostChosen);
  take(ancestors, mostChosen);
  return chosen;
}

/**
 * Returns the index for a build without any other: the newest of its repository, of any branch.
 *
 * A fresh CI machine mostly has a commit that was never built, without a branch (HEAD is detached) and without
 * ancestors (the clone is shallow). Most of its requests are the same as those of the last build of any kind.
 */
export function chooseNewest<Candidate extends IndexCandidate>(
  candidates: readonly Candidate[],
): ChosenIndex<Candidate>[] {
  const [candidate] = candidates.toSorted(byCompleteness);
  return candidate === undefined ? [] : [{ candidate, source: "repository", distance: 0 }];
}

/**
 * Returns indexes of ancestors, the best first.
 *
 * An incomplete index of a build on a warm machine may name eleven results where a complete one names all, so it counts
 * as if it were farther away. The amount is an estimate: one commit changes few results, and twenty change many.
 */
export function chooseBases<Candidate extends IndexCandidate>(
  candidates: readonly Candidate[],
  parents: readonly string[],
): { readonly candidate: Candidate; readonly distance: number }[] {
  const distanceOf = new Map(parents.map((commit, at) => [commit, at + 1]));
  return candidates
    .flatMap((candidate) => {
      const distance = distanceOf.get(candidate.commit);
      return distance === undefined ? [] : [{ candidate, distance }];
    })
    .toSorted((a, b) => weightedDistance(a) - weightedDistance(b) || a.distance - b.distance);
}

const incompleteIsFarther = 8;

function weightedDistance(base: {
  readonly candidate: IndexCandidate;
  readonly distance: number;
}): number {
  return base.distance + (base.candidate.isComplete ? 0 : incompleteIsFarther);
}

function byCompleteness(a: IndexCandidate, b: IndexCandidate): number {
  return (
    Number(b.isComplete) - Number(a.isComplete) || b.updatedAt.getTime() - a.updatedAt.getTime()
  );
}
