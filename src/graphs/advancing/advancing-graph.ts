import type { RunCause } from "#api/graph.ts";
import { isOver } from "#api/job-state.ts";
import type { Advance } from "./advance-graph.ts";
import { edgeStatus } from "./edge-status.ts";
import type { AdvancingEdge, AdvancingJob, GraphPart } from "./graph-part.ts";
import { jobState } from "./job-progress.ts";
import { reasonToSkip } from "./reason-to-skip.ts";
import { isEdgeStale } from "./staleness.ts";

/** The known part of a graph, while changes are passed through it from low depth to high. */
export class AdvancingGraph {
  readonly #jobs = new Map<string, AdvancingJob>();
  readonly #stored = new Map<string, AdvancingJob>();
  readonly #edges = new Map<string, AdvancingEdge>();
  readonly #happened: ReadonlySet<string>;
  readonly #changedJobs = new Set<string>();
  readonly #changedEdges = new Set<string>();
  readonly #joined = new Map<string, RunCause>();
  readonly #revived = new Set<string>();
  /** Jobs that must be evaluated, by depth. */
  readonly #agenda = new Map<number, Set<string>>();

  constructor(happened: readonly AdvancingJob[]) {
    this.#happened = new Set(happened.map((job) => job.name));
    this.#add({ jobs: happened, edges: [] });
    for (const job of happened) this.#putOnAgenda(job);
  }

  /** The jobs of the lowest depth that is left; undefined when all is done. */
  nextLevel(): readonly string[] | undefined {
    if (this.#agenda.size === 0) return undefined;
    const depth = Math.min(...this.#agenda.keys());
    const names = this.#agenda.get(depth) ?? new Set();
    this.#agenda.delete(depth);
    return [...names];
  }

  /** Decides the states of jobs whose in-edges are decided. Returns the joins whose in-edges are all met. */
  settle(names: readonly string[]): string[] {
    const joining: string[] = [];
    for (const name of names) {
      const job = this.#job(name);
      const state = jobState(job);
      if (job.kind === "join" && state === "succeeded" && job.state !== state) joining.push(name);
      const isRevived =
        job.state === "unreachable" && job.wanted !== null && state !== "unreachable";
      if (isRevived) this.#revived.add(name);
      const stale = job.latestRun !== undefined && job.staleEdges > 0;
      if (state === job.state && stale === job.stale) continue;
      const keepsReason = state === "unreachable" || job.setAside !== null;
      this.#change({
        ...job,
        state,
        stale,
        wanted: isRevived ? "revive" : job.wanted,
        reason: keepsReason ? job.reason : null,
      });
    }
    return joining;
  }

  /** Runs joins, which takes no time: they take the current results of the jobs that they gather. */
  join(names: readonly string[], inEdges: GraphPart): void {
    this.#add(inEdges);
    const staleEdges = new Map<string, number>();
    for (const { job, on } of inEdges.edges) {
      const edge = this.#edges.get(edgeKey({ job, on }));
      if (edge === undefined) continue;
      const source = this.#job(on);
      this.#changeEdge({ ...edge, taken: source.yield, stale: source.stale });
      if (source.stale) staleEdges.set(job, (staleEdges.get(job) ?? 0) + 1);
    }
    for (const name of names) {
      const job = this.#job(name);
      this.#joined.set(name, job.wanted ?? "first");
      this.#change({
        ...job,
        wanted: job.wanted === null ? null : "downstream",
        latestRun: { state: "finished", outcome: "succeeded", failureClass: null },
        runs: job.runs + 1,
        // Everything that it gathers has run again since the last join, or this is the first join.
        yield: `joined ${job.runs + 1}`,
        staleEdges: staleEdges.get(name) ?? 0,
        stale: staleEdges.has(name),
        state: "succeeded",
        reason: null,
      });
    }
  }

  /** Which of the jobs have become something that their out-edges must learn. */
  turnedAmong(names: readonly string[]): string[] {
    return names.filter((name) => {
      const job = this.#job(name);
      const was = this.#stored.get(name) ?? job;
      if (job.stale !== was.stale || job.yield !== was.yield) return true;
      // Changes between unfinished states do not affect edges.
      if (job.state !== was.state) return isOver(job.state) || isOver(was.state);
      // Its result was stored when its run ended.
      return this.#happened.has(name) && isOver(job.state);
    });
  }

  /** Updates the out-edges of jobs after these have changed; jobs that wait are looked at in their turn. */
  pass(names: readonly string[], outEdges: GraphPart): void {
    this.#add(outEdges);
    const turned = new Set(names);
    for (const { job: waiting, on } of outEdges.edges) {
      if (turned.has(on)) this.#passAlong(waiting, this.#job(on));
    }
  }

  result(): Advance {
    const jobs = [...this.#changedJobs].map((name) => {
      const job = this.#job(name);
      return {
        ...job,
        was: this.#stored.get(name)?.state ?? job.state,
        isRevived: this.#revived.has(name),
        joinedBecause: this.#joined.get(name) ?? null,
      };
    });
    return { jobs, edges: [...this.#changedEdges].flatMap((key) => this.#edges.get(key) ?? []) };
  }

  #passAlong(waiting: string, on: AdvancingJob): void {
    const edge = this.#edges.get(edgeKey({ job: waiting, on: on.name }));
    if (edge === undefined) return;
    const status = edgeStatus(edge, on);
    const stale = isEdgeStale(edge.taken, on);
    if (status === edge.status && stale === edge.stale) return;
    this.#changeEdge({ ...edge, status, stale });
    const job = this.#job(waiting);
    this.#change({
      ...job,
      openEdges: job.openEdges + count(status === "open") - count(edge.status === "open"),
      failedEdges: job.failedEdges + count(status === "failed") - count(edge.status === "failed"),
      staleEdges: job.staleEdges + count(stale) - count(edge.stale),
      reason: status === "failed" ? reasonToSkip(on) : job.reason,
    });
    this.#putOnAgenda(job);
  }

  /** Adds rows that were read. Rows that are present keep their changes. */
  #add(part: GraphPart): void {
    for (const job of part.jobs) {
      if (this.#jobs.has(job.name)) continue;
      this.#jobs.set(job.name, job);
      this.#stored.set(job.name, job);
    }
    for (const edge of part.edges) {
      const key = edgeKey(edge);
      if (!this.#edges.has(key)) this.#edges.set(key, edge);
    }
  }

  #putOnAgenda({ name, depth }: AdvancingJob): void {
    const level = this.#agenda.get(depth) ?? new Set();
    this.#agenda.set(depth, level.add(name));
  }

  #change(job: AdvancingJob): void {
    this.#jobs.set(job.name, job);
    this.#changedJobs.add(job.name);
  }

  #changeEdge(edge: AdvancingEdge): void {
    const key = edgeKey(edge);
    this.#edges.set(key, edge);
    this.#changedEdges.add(key);
  }

  #job(name: string): AdvancingJob {
    const job = this.#jobs.get(name);
    if (job === undefined) throw new RangeError(`job ${name} was not read`);
    return job;
  }
}

function edgeKey({ job, on }: { readonly job: string; readonly on: string }): string {
  return `${job}\n${on}`;
}

function count(claim: boolean): number {
  return claim ? 1 : 0;
}
