import type { JobKind, RunCause, RunOutcome } from "#api/graph.ts";
import { advanceGraph } from "./advance-graph.ts";
import { depthsOf } from "./depths.ts";
import { edgeStatus } from "./edge-status.ts";
import type { AdvancingEdge, AdvancingJob, GraphPart } from "./graph-part.ts";
import { jobState, type SetAside } from "./job-progress.ts";
import { isEdgeStale } from "./staleness.ts";

/** A graph's shape: its edges go from earlier names to later ones. */
interface GraphShape {
  readonly jobs: readonly { readonly name: string; readonly kind: JobKind }[];
  readonly edges: readonly Pick<AdvancingEdge, "job" | "on" | "condition">[];
}

/** A graph in memory that does what the stores do: it stores the results of `advanceGraph` and counts reads. */
export class StoredGraph {
  readonly jobs = new Map<string, AdvancingJob>();
  readonly edges = new Map<string, AdvancingEdge>();
  edgesRead = 0;

  constructor(shape: GraphShape) {
    const depths = depthsOf(
      shape.jobs.map(({ name }) => name),
      shape.edges,
    );
    for (const { name, kind } of shape.jobs) {
      this.jobs.set(name, {
        name,
        kind,
        depth: depths.get(name) ?? 0,
        wanted: "first",
        latestRun: undefined,
        setAside: null,
        openEdges: shape.edges.filter((edge) => edge.job === name).length,
        failedEdges: 0,
        state: "blocked",
        reason: null,
        runs: 0,
        yield: "",
        staleEdges: 0,
        stale: false,
      });
    }
    for (const edge of shape.edges) {
      this.#put({ ...edge, status: "open", waived: false, taken: null, stale: false });
    }
  }

  /** A graph as it is kept elsewhere. */
  static of({ jobs, edges }: GraphPart): StoredGraph {
    const graph = new StoredGraph({ jobs: [], edges: [] });
    for (const job of jobs) graph.jobs.set(job.name, job);
    for (const edge of edges) graph.#put(edge);
    return graph;
  }

  job(name: string): AdvancingJob {
    const job = this.jobs.get(name);
    if (job === undefined) throw new RangeError(name);
    return job;
  }

  states(): Record<string, string> {
    return Object.fromEntries([...this.jobs].map(([name, job]) => [name, job.state]));
  }

  /** Names of the jobs that are stale. */
  stale(): string[] {
    return [...this.jobs.values()].filter((job) => job.stale).map((job) => job.name);
  }

  want(names: readonly string[], cause: RunCause): Promise<void> {
    for (const name of names) this.#change(name, { wanted: cause, setAside: null });
    return this.advance(names);
  }

  /** Begins a run that is wanted: it takes what the jobs before it give now. */
  begin(name: string, state: "queued" | "waiting" | "running" = "running"): Promise<void> {
    this.#take(name);
    this.#change(name, { latestRun: { state } });
    return this.advance([name]);
  }

  /** A run from its beginning to its end in one step. */
  runAtOnce(name: string, outcome: RunOutcome, gave: string): Promise<void> {
    this.#take(name);
    return this.end(name, outcome, gave);
  }

  #take(name: string): void {
    const into = [...this.edges.values()].filter((edge) => edge.job === name);
    for (const edge of into) {
      const source = this.job(edge.on);
      this.#put({ ...edge, taken: source.yield, stale: source.stale });
    }
    const staleEdges = into.filter((edge) => this.job(edge.on).stale).length;
    const runs = this.job(name).runs + 1;
    this.#change(name, { wanted: null, setAside: null, runs, staleEdges });
  }

  end(
    name: string,
    outcome: RunOutcome,
    gave: string = outcome,
    failureClass: string | null = null,
  ): Promise<void> {
    this.#change(name, { latestRun: { state: "finished", outcome, failureClass }, yield: gave });
    return this.advance([name]);
  }

  /** Begins and ends a run. */
  async run(name: string, outcome: RunOutcome, gave: string = outcome): Promise<void> {
    await this.begin(name);
    await this.end(name, outcome, gave);
  }

  setAside(name: string, setAside: SetAside): Promise<void> {
    this.#change(name, { wanted: null, setAside, reason: setAside });
    return this.advance([name]);
  }

  cancel(names: readonly string[]): Promise<void> {
    for (const name of names) this.#change(name, { wanted: null });
    return this.advance(names);
  }

  waive(name: string, on: string): Promise<void> {
    const edge = this.edges.get(`${name} ${on}`);
    if (edge === undefined) throw new RangeError(`${name} ${on}`);
    const { openEdges, failedEdges } = this.job(name);
    this.#put({ ...edge, waived: true, status: "met" });
    this.#change(name, {
      openEdges: openEdges - (edge.status === "open" ? 1 : 0),
      failedEdges: failedEdges - (edge.status === "failed" ? 1 : 0),
    });
    return this.advance([name]);
  }

  async advance(names: readonly string[]): Promise<void> {
    const among = (which: (edge: AdvancingEdge) => boolean) => {
      const edges = [...this.edges.values()].filter(which);
      this.edgesRead += edges.length;
      return edges;
    };
    const advance = await advanceGraph(
      names.map((name) => this.job(name)),
      {
        outEdgesOf: async (on) => {
          const edges = among((edge) => on.includes(edge.on));
          return { edges, jobs: edges.map((edge) => this.job(edge.job)) };
        },
        inEdgesOf: async (jobs) => {
          const edges = among((edge) => jobs.includes(edge.job));
          return { edges, jobs: edges.map((edge) => this.job(edge.on)) };
        },
      },
    );
    for (const { was: _was, isRevived: _revived, joinedBecause: _because, ...job } of advance.jobs)
      this.jobs.set(job.name, job);
    for (const edge of advance.edges) this.#put(edge);
  }

  /** Returns all computed values, recomputed from runs, requests, waivers and used results. */
  fromScratch(): Computed {
    const jobs = new Map<string, AdvancingJob>();
    const edges: Record<string, string> = {};
    const bySource = [...this.jobs.values()].toSorted((a, b) => a.depth - b.depth);
    for (const job of bySource) {
      const into = [...this.edges.values()]
        .filter((edge) => edge.job === job.name)
        .map((edge) => {
          const on = jobs.get(edge.on) ?? this.job(edge.on);
          const stale = isEdgeStale(edge.taken, on);
          const status = edgeStatus(edge, on);
          edges[`${edge.job} ${edge.on}`] = `${status}${stale ? " stale" : ""}`;
          return { status, stale };
        });
      const count = (status: string) => into.filter((edge) => edge.status === status).length;
      const staleEdges = into.filter((edge) => edge.stale).length;
      const anew = { ...job, openEdges: count("open"), failedEdges: count("failed"), staleEdges };
      const stale = job.latestRun !== undefined && staleEdges > 0;
      jobs.set(job.name, { ...anew, stale, state: jobState(anew) });
    }
    return computed(jobs.values(), edges);
  }

  stored(): Computed {
    const edges = [...this.edges].map(([key, { status, stale }]) => [
      key,
      `${status}${stale ? " stale" : ""}`,
    ]);
    return computed(this.jobs.values(), Object.fromEntries(edges));
  }

  #change(name: string, change: Partial<AdvancingJob>): void {
    this.jobs.set(name, { ...this.job(name), ...change });
  }

  #put(edge: AdvancingEdge): void {
    this.edges.set(`${edge.job} ${edge.on}`, edge);
  }
}

/** What a graph is computed to be, to compare. */
interface Computed {
  readonly jobs: Readonly<Record<string, string>>;
  readonly edges: Readonly<Record<string, string>>;
}

function computed(jobs: Iterable<AdvancingJob>, edges: Record<string, string>): Computed {
  const said = [...jobs].map(({ name, state, stale, openEdges, failedEdges, staleEdges }) => [
    name,
    `${state}${stale ? " stale" : ""} ${openEdges}/${failedEdges}/${staleEdges}`,
  ]);
  return { jobs: Object.fromEntries(said), edges };
}
