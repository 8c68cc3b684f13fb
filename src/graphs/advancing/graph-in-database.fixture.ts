import { randomUUID } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import type { RunCause, RunOutcome } from "#api/graph.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import type { Db, Tx } from "#db/db.ts";
import { catalogOf } from "#definitions/catalog.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { dropRequests } from "../cancel.store.ts";
import { insertGraph, keepCatalog } from "../graph.store.ts";
import { GraphId } from "../graph-id.ts";
import { insertRuns } from "../insert-runs.store.ts";
import { finishServerJobs } from "../kinds/server-job.store.ts";
import type { Plan } from "../plan.ts";
import { nameRepository } from "../repository.store.ts";
import { setJobsAside, wantRuns } from "../reruns/requests.store.ts";
import { waiveEdge } from "../reruns/waive.store.ts";
import { advanceStoredGraph, lockGraphs } from "./advance.store.ts";
import type { History, LivingGraph } from "./any-history.fixture.ts";
import { beginGraph } from "./begin-graph.ts";
import { forestReader, jobsNamed } from "./graph-part.store.ts";
import type { SetAside } from "./job-progress.ts";
import { StoredGraph } from "./stored-graph.fixture.ts";

/** A graph that lives in the database, and to which things happen by the farm's own statements. */
export class GraphInDatabase implements LivingGraph {
  readonly #db: Db;
  readonly #id: GraphId;
  /** The state after the last event. */
  seen = StoredGraph.of({ jobs: [], edges: [] });

  private constructor(db: Db, id: GraphId) {
    this.#db = db;
    this.#id = id;
  }

  static async begin(db: Db, { jobs, edges }: History): Promise<GraphInDatabase> {
    const definitions = jobs.map(
      (kind, i) =>
        [`j${i}`, { kind, ...(kind === "command" ? { commands: ["true"] } : {}) }] as const,
    );
    const plan: Plan = {
      catalog: catalogOf(new Map(definitions)),
      edges: edges.map(({ job, on, condition }) => ({ job: `j${job}`, on: `j${on}`, condition })),
      inactive: new Set(),
    };
    const id = GraphId.parse(randomUUID());
    const begun = await beginGraph(plan);
    await db.transaction(async (tx) => {
      await keepCatalog(tx, plan.catalog);
      await insertGraph(tx, {
        begun,
        id,
        catalog: plan.catalog,
        repository: await nameRepository(tx, "/made-up"),
        commit: "a".repeat(40),
        rev: "main",
        subject: "",
        author: "",
        committedAt: new Date(0),
        parameters: {},
        domain: protectedDomain,
        skipCache: false,
        branch: "main",
        switches: {},
        priority: 0,
        top: false,
        submittedBy: "anyone",
      });
    });
    const graph = new GraphInDatabase(db, id);
    await graph.#look(jobs.map((_kind, i) => `j${i}`));
    return graph;
  }

  get jobs() {
    return this.seen.jobs;
  }

  get edges() {
    return this.seen.edges;
  }

  job(name: string) {
    return this.seen.job(name);
  }

  want(names: readonly string[], cause: RunCause): Promise<void> {
    const wanted = names.map((job) => ({ job, cause, why: "a test", times: 1 }));
    return this.#happen(names, (tx) => wantRuns(tx, this.#id, wanted, "a test"));
  }

  begin(name: string, state: "queued" | "waiting" | "running" = "running"): Promise<void> {
    // Nothing of the queue is here: the farm serves all of it.
    const shown = state === "waiting" ? state : "running";
    return this.#happen([name], (tx) =>
      insertRuns(tx, [{ ...this.#about(name), kind: "server-job", state: shown, dueAt: null }]),
    );
  }

  end(
    name: string,
    outcome: RunOutcome,
    gave: string = outcome,
    failureClass: string | null = null,
  ): Promise<void> {
    const digest = toDigestMessage(digestOf(Buffer.from(gave)));
    const made = create(ActionResultSchema, { outputFiles: [{ path: "out", digest }] });
    return this.#happen([name], (tx) =>
      finishServerJobs(tx, [
        {
          graphId: this.#id,
          job: name,
          run: this.job(name).runs,
          outcome,
          message: null,
          exitCode: null,
          failureClass,
          result: toBinary(ActionResultSchema, made),
          setAside: null,
        },
      ]),
    );
  }

  runAtOnce(name: string, outcome: RunOutcome): Promise<void> {
    return this.#happen([name], async (tx) => {
      await wantRuns(
        tx,
        this.#id,
        [{ job: name, cause: "retrigger", why: "a test", times: 1 }],
        "",
      );
      await insertRuns(tx, [{ ...this.#about(name), kind: "settled", outcome, message: null }]);
    });
  }

  setAside(name: string, aside: SetAside): Promise<void> {
    // What a coalesced job is coalesced into is no part of its state.
    const kept = aside === "coalesced" ? "inactive" : aside;
    return this.#happen([name], (tx) =>
      setJobsAside(tx, this.#id, new Map([[name, kept]]), "a test"),
    );
  }

  cancel(names: readonly string[]): Promise<void> {
    return this.#happen(names, (tx) => dropRequests(tx, this.#id, names));
  }

  waive(job: string, on: string): Promise<void> {
    const edge = this.edges.get(`${job} ${on}`);
    if (edge === undefined) throw new RangeError(`${job} ${on}`);
    return this.#happen([job], (tx) =>
      waiveEdge(tx, this.#id, edge, { by: "a test", reason: "a test" }),
    );
  }

  #about(job: string) {
    return { graphId: this.#id, job, cause: this.job(job).wanted ?? "first", inputRuns: {} };
  }

  async #happen(names: readonly string[], work: (tx: Tx) => Promise<unknown>): Promise<void> {
    await this.#db.transaction(async (tx) => {
      const [graph] = await lockGraphs(tx, [this.#id]);
      if (graph === undefined) throw new RangeError("the graph is gone");
      await work(tx);
      await advanceStoredGraph(tx, graph, names);
    });
    await this.#look([...this.jobs.keys()]);
  }

  async #look(names: readonly string[]): Promise<void> {
    const id = this.#id;
    const jobs = await jobsNamed(
      this.#db,
      names.map((name) => ({ graphId: id, name })),
    );
    const { edges } = await forestReader(this.#db).of(id).inEdgesOf(names);
    this.seen = StoredGraph.of({ jobs: jobs.get(id) ?? [], edges });
  }
}
