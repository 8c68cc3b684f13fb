import type { z } from "zod";
import type { BranchChange } from "#api/branch.ts";
import type { ExecutionDetail } from "#api/execution.ts";
import type { Graph, GraphDelta, GraphSummary, JobSummary } from "#api/graph.ts";
import { isOver, type JobState } from "#api/job-state.ts";
import type { Retrigger } from "#api/rerun.ts";
import type { Search } from "#api/search.ts";
import type { SubmitGraph } from "#api/submit-graph.ts";
import type { Worker } from "#api/worker.ts";
import { FakeGranary } from "./fake-granary.ts";
import { FakeLab } from "./fake-lab.ts";
import type { FakeInvocation } from "./made-up-invocations.ts";

/** One run's log: its bytes so far, and whether more will follow. */
interface FakeLog {
  bytes: Buffer;
  complete: boolean;
}

/** The data of the fake server, in memory; and the listeners for changes. */
export class FakeFarm {
  readonly graphs = new Map<string, Graph>();
  readonly workers: Worker[] = [];
  /** The number of runs on the timeline of workers. */
  timelineRuns = 400;
  /** In the order of the requests. */
  readonly submissions: SubmitGraph[] = [];
  /** In the order of execution. */
  readonly retriggers: z.output<typeof Retrigger>[] = [];
  /** By graph and job, if a priority was set. */
  readonly jobPriorities = new Map<string, number>();
  readonly logs = new Map<string, FakeLog>();
  /** By repository and branch, the newest first. */
  readonly branchChanges = new Map<string, readonly BranchChange[]>();
  /** The newest first. */
  readonly searches: Search[] = [];
  readonly invocations: FakeInvocation[] = [];
  /** Executions with their own data; others are derived from the actions that they serve. */
  readonly executions = new Map<string, ExecutionDetail>();
  /** Undefined until a setting is changed. */
  sizeClassSettings: Readonly<Record<string, unknown>> | undefined;
  /** Benchmarks: empty, until a test sets a lab with data. */
  lab = new FakeLab();
  /** Granaries: no reports, until a test sets one with data. */
  granary = new FakeGranary();
  readonly #listeners = new Set<() => void>();

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Adds a graph, or replaces the one with its id: nothing stays of its logs and priorities. */
  add(graph: Graph): Graph {
    for (const kept of [this.logs, this.jobPriorities]) {
      for (const key of kept.keys()) if (key.startsWith(`${graph.id} `)) kept.delete(key);
    }
    this.graphs.set(graph.id, graph);
    this.changed();
    return graph;
  }

  /** Changes jobs of a graph in one transaction: the version grows by one, whatever the number of jobs. */
  change(id: string, patches: Readonly<Record<string, Partial<JobSummary>>>): void {
    const graph = this.graphs.get(id);
    if (graph === undefined) return;
    const version = graph.version + 1;
    const jobList = graph.jobList.map((job) => {
      const patch = patches[job.name];
      return patch === undefined ? job : { ...job, ...patch, version };
    });
    const counts: Partial<Record<JobState, number>> = {};
    for (const job of jobList) counts[job.state] = (counts[job.state] ?? 0) + 1;
    const over = jobList.every((job) => isOver(job.state));
    this.graphs.set(id, {
      ...graph,
      version,
      jobList,
      counts,
      state: !over
        ? "running"
        : counts.cancelled
          ? "cancelled"
          : counts.succeeded === jobList.length
            ? "succeeded"
            : "failed",
      finishedAt: over
        ? (jobList
            .map((job) => job.finishedAt ?? "")
            .toSorted()
            .at(-1) ?? null)
        : null,
    });
    this.changed();
  }

  deltaSince(id: string, since: number): GraphDelta | undefined {
    const graph = this.graphs.get(id);
    if (graph === undefined || graph.version <= since) return undefined;
    return {
      graph: summaryOf(graph),
      jobs: graph.jobList.filter((job) => job.version > since),
    };
  }

  log(id: string, job: string, run: number): FakeLog {
    const key = `${id} ${job} ${run}`;
    const known = this.logs.get(key) ?? { bytes: Buffer.alloc(0), complete: false };
    this.logs.set(key, known);
    return known;
  }

  append(id: string, job: string, run: number, text: string | Uint8Array, complete = false): void {
    const log = this.log(id, job, run);
    log.bytes = Buffer.concat([log.bytes, typeof text === "string" ? Buffer.from(text) : text]);
    log.complete = complete;
    this.changed();
  }
}

export function summaryOf(graph: Graph): GraphSummary {
  const { jobList: _, edges: __, ...summary } = graph;
  return summary;
}
