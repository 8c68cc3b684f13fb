import type { RequestKind, RequestState } from "#api/benchmark-request.ts";

/** The data of an open request that determine its position in the queue. */
export interface WaitingRequest {
  readonly id: string;
  readonly kind: RequestKind;
  readonly state: RequestState;
  readonly pr: number | null;
  readonly artifactId: number;
  readonly artifact: string;
  readonly datedAt: Date;
  /** The artifact with which it is compared. */
  readonly parentId: number | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
}

export interface Placed<R extends WaitingRequest> {
  readonly request: R;
  /** From 1. */
  readonly place: number;
  readonly because: string;
}

/**
 * Returns the queue of a suite: requests in progress, releases by date, ready requests, then requests that wait for
 * artifacts.
 *
 * Among ready requests, a request follows its parent's request; among independent ones, master comes before try, then
 * by pull request and by age. A placed request counts as done, like one in progress. So the shown order is the order in
 * which they will begin, and neither a start nor an end changes the order of the others.
 */
export function orderRequests<R extends WaitingRequest>(open: readonly R[]): Placed<R>[] {
  const inState = (state: RequestState) => open.filter((request) => request.state === state);
  const ready = inState("artifacts-ready");
  const others = ready.filter(({ kind }) => kind !== "release");
  const ordered = [
    ...inState("in-progress")
      .toSorted((a, b) => byTime(a.startedAt, b.startedAt) || byCreation(a, b))
      .map((request) => ({ request, because: "it is in progress" })),
    ...ready
      .filter(({ kind }) => kind === "release")
      .toSorted((a, b) => byTime(a.datedAt, b.datedAt) || byText(a.artifact, b.artifact))
      .map((request) => ({
        request,
        because: `releases come first, by their date: ${request.datedAt.toISOString().slice(0, 10)}`,
      })),
    ...afterTheirParents(others),
    ...inState("waiting-for-artifacts")
      .toSorted(byRank)
      .map((request) => ({ request, because: "it waits until its artifacts are there" })),
  ];
  return ordered.map((each, i) => ({ ...each, place: i + 1 }));
}

function afterTheirParents<R extends WaitingRequest>(ready: readonly R[]) {
  const left = new Map(ready.toSorted(byRank).map((request) => [request.artifactId, request]));
  const ordered: { readonly request: R; readonly because: string }[] = [];
  while (left.size > 0) {
    const requests = [...left.values()];
    const isFree = ({ artifactId, parentId }: R) =>
      parentId === null || parentId === artifactId || !left.has(parentId);
    // Requests may name each other's artifacts as parents in a cycle; one of them must start.
    const next = requests.find(isFree) ?? requests[0];
    if (next === undefined) break;
    left.delete(next.artifactId);
    const parent = ready.find(({ artifactId }) => artifactId === next.parentId);
    ordered.push({ request: next, because: becauseOf(next, parent) });
  }
  return ordered;
}

function becauseOf({ kind, pr }: WaitingRequest, parent: WaitingRequest | undefined): string {
  const rank =
    kind === "master"
      ? "the main line comes before what is tried"
      : pr === null
        ? "what is tried goes by pull request, those without one last, then by age"
        : `what is tried goes by pull request, here ${pr}, then by age`;
  return parent === undefined ? rank : `after its parent ${parent.artifact}; ${rank}`;
}

/** Master before try, pull request, creation; the tag, so that the order is total. */
function byRank(a: WaitingRequest, b: WaitingRequest): number {
  return (
    kindRank[a.kind] - kindRank[b.kind] ||
    (a.pr ?? Number.MAX_SAFE_INTEGER) - (b.pr ?? Number.MAX_SAFE_INTEGER) ||
    byCreation(a, b)
  );
}

const kindRank: Record<RequestKind, number> = { release: 0, master: 1, try: 2 };

function byCreation(a: WaitingRequest, b: WaitingRequest): number {
  return byTime(a.createdAt, b.createdAt) || byText(a.artifact, b.artifact);
}

function byTime(a: Date | null, b: Date | null): number {
  return (a?.getTime() ?? 0) - (b?.getTime() ?? 0);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
