import { isOver, type JobState } from "#api/job-state.ts";
import { type EdgeStatus, edgeStatus, type JobProgress, jobState } from "./job-progress.ts";
import type { PlannedEdge } from "./plan.ts";

export interface AdvancingJob extends JobProgress {
  readonly name: string;
  /** As it was stored; differs from what `jobState` says exactly when something just happened to the job. */
  readonly state: JobState;
  /** For people: why it cannot run. */
  readonly reason: string | null;
}

export interface AdvancingEdge extends PlannedEdge {
  readonly status: EdgeStatus;
}

/** The part of a graph that may change. Asked for piece by piece, so that the rest is never read. */
export interface GraphPart {
  readonly jobs: readonly AdvancingJob[];
  readonly edges: readonly AdvancingEdge[];
}

/** A job that is now different from what was stored, in state or in counts of edges. */
export interface AdvancedJob extends AdvancingJob {
  readonly was: JobState;
}

export interface Advance {
  readonly jobs: readonly AdvancedJob[];
  readonly edges: readonly AdvancingEdge[];
}

/** What is known of a graph's part, while changes run through it. */
export class AdvancingGraph {
  readonly #jobs = new Map<string, AdvancingJob>();
  readonly #stored = new Map<string, JobState>();
  readonly #outEdges = new Map<string, AdvancingEdge[]>();
  readonly #changedJobs = new Set<string>();
  readonly #changedEdges = new Set<AdvancingEdge>();

  /** Adds what has been read. A job that is here already stays as it has become. */
  add(part: GraphPart): void {
    for (const job of part.jobs) {
      if (this.#jobs.has(job.name)) continue;
      this.#jobs.set(job.name, job);
      this.#stored.set(job.name, job.state);
    }
    for (const edge of part.edges) {
      const known = this.#outEdges.get(edge.on) ?? [];
      this.#outEdges.set(edge.on, known);
      known.push(edge);
    }
  }

  /**
   * Settles some jobs, and answers which of them changed in a way that their out-edges must learn.
   *
   * The caller adds the out-edges of those, with the jobs at their ends, and calls `pass`.
   */
  settle(names: Iterable<string>): string[] {
    const turned: string[] = [];
    for (const name of names) {
      const job = this.#jobs.get(name);
      if (job === undefined) continue;
      const state = jobState(job);
      if (state === job.state) continue;
      this.#jobs.set(name, { ...job, state, reason: state === "unreachable" ? job.reason : null });
      this.#changedJobs.add(name);
      // Between states that are no end, no edge has anything to learn.
      if (isOver(state) || isOver(job.state)) turned.push(name);
    }
    return turned;
  }

  /** Tells the out-edges of some jobs what those have become; answers the jobs whose edges changed. */
  pass(names: Iterable<string>): Set<string> {
    const touched = new Set<string>();
    for (const name of names) {
      const on = this.#jobs.get(name);
      const edges = this.#outEdges.get(name);
      if (on === undefined || edges === undefined) continue;
      this.#outEdges.set(
        name,
        edges.map((edge) => {
          const status = edgeStatus(edge.condition, on.state);
          const waiting = this.#jobs.get(edge.job);
          if (status === edge.status || waiting === undefined) return edge;
          const changed = { ...edge, status };
          this.#changedEdges.delete(edge);
          this.#changedEdges.add(changed);
          this.#jobs.set(edge.job, {
            ...waiting,
            openEdges: waiting.openEdges + count(status === "open") - count(edge.status === "open"),
            failedEdges:
              waiting.failedEdges + count(status === "failed") - count(edge.status === "failed"),
            reason: status === "failed" ? reasonOf(edge, on) : waiting.reason,
          });
          this.#changedJobs.add(edge.job);
          touched.add(edge.job);
          return changed;
        }),
      );
    }
    return touched;
  }

  result(): Advance {
    const jobs = [...this.#changedJobs].flatMap((name) => {
      const job = this.#jobs.get(name);
      return job === undefined ? [] : [{ ...job, was: this.#stored.get(name) ?? job.state }];
    });
    return { jobs, edges: [...this.#changedEdges] };
  }
}

/**
 * Carries what happened to some jobs through the graph, to the last job that it concerns.
 *
 * `outEdgesOf` reads the out-edges of jobs together with the jobs at their ends.
 * It is asked once per level, for jobs that changed: the work is in proportion
 * to the edges that are touched, not to the graph.
 */
export async function advanceGraph(
  happened: readonly AdvancingJob[],
  outEdgesOf: (names: readonly string[]) => Promise<GraphPart>,
): Promise<Advance> {
  const graph = new AdvancingGraph();
  graph.add({ jobs: happened, edges: [] });
  const read = new Set<string>();
  let touched: Iterable<string> = happened.map((job) => job.name);
  for (;;) {
    const turned = graph.settle(touched);
    if (turned.length === 0) return graph.result();
    const unread = turned.filter((name) => !read.has(name));
    for (const name of unread) read.add(name);
    if (unread.length > 0) graph.add(await outEdgesOf(unread));
    touched = graph.pass(turned);
  }
}

/** A chain of jobs that could not run all name the one that began it. */
function reasonOf(edge: AdvancingEdge, on: AdvancingJob): string {
  switch (on.state) {
    case "unreachable":
      return on.reason ?? `skipped because ${on.name} was skipped`;
    case "succeeded":
      return `not needed: ${on.name} succeeded`;
    case "cancelled":
      return `skipped because ${on.name} was cancelled`;
    case "failed":
      return `skipped because ${on.name} failed`;
    case "blocked":
    case "ready":
    case "queued":
    case "running":
      throw new RangeError(`the edge from ${edge.job} to ${on.name} cannot fail yet`);
  }
}

function count(claim: boolean): number {
  return claim ? 1 : 0;
}
