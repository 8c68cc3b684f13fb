import { fromBinary } from "@bufbuild/protobuf";
import { everybody } from "#access/principal.ts";
import { digestOf } from "#cas/digest-of.ts";
import { Fault } from "#core/fault.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import { catalogOf } from "#definitions/catalog.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { ExecutionId, type ExecutionRequest } from "#execution/execution.ts";
import type { FinishedExecution } from "#execution/finishing/finished-execution.ts";
import { beginGraph } from "#graphs/advancing/begin-graph.ts";
import { cancelGraph } from "#graphs/cancel-graph.ts";
import { insertGraph, keepCatalog } from "#graphs/graph.store.ts";
import { GraphId } from "#graphs/graph-id.ts";
import { wholeGraph } from "#graphs/graph-page.store.ts";
import type { Plan } from "#graphs/plan.ts";
import { nameRepository } from "#graphs/repository.store.ts";
import { retrigger } from "#graphs/reruns/retrigger.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { SimulatedProcess } from "./event-loop.ts";
import { webhookUrl } from "./receiver.ts";
import type { PlannedGraph, PlannedJob, PlannedRequest } from "./scenario.ts";
import { untilAnswered, type World } from "./world.ts";

const callMs = 4_000;
const followMs = 10_000;

/** Whether a client may repeat the call: the farm says no, for good, in any other case. */
function isTemporary(reason: unknown): boolean {
  return reason instanceof Fault && ["unavailable", "aborted"].includes(reason.code);
}

/** Reports what must not happen to a client that behaves well; goes on as the client would. */
function goOn(world: World, about: string) {
  return (reason: unknown): boolean => {
    if (isTemporary(reason)) return true;
    const what = `a call failed: ${String(reason)}`;
    world.broken({ promise: "consistency", subject: about, what });
    return false;
  };
}

/** Submits an execution, waits for its end, and perhaps cancels it meanwhile. */
export function startClient(world: World, planned: PlannedRequest, n: number): void {
  const { loop } = world;
  const client = new SimulatedProcess(`client-${n}`);
  world.open++;
  loop.after(
    planned.atMs,
    () => {
      const id = ExecutionId.parse(loop.random.uuid());
      clientOf(world, planned, id).then(
        () => world.open--,
        // It was reported; a client that gave up is not waited for.
        () => world.open--,
      );
    },
    client,
  );
}

async function clientOf(world: World, planned: PlannedRequest, id: ExecutionId): Promise<void> {
  const { loop, network, scenario } = world;
  const behaviour = scenario.behaviours[planned.action];
  if (behaviour === undefined) throw new RangeError(`there is no action ${planned.action}`);
  const actionDigest = digestOf(Buffer.from(`action ${planned.action}`));
  world.knowAction(actionDigest, { behaviour, jobs: [] });
  const request: ExecutionRequest = {
    id,
    project: "main",
    domain: protectedDomain,
    actionDigest,
    platform: { OSFamily: "linux" },
    sizeClass: 1,
    ...(scenario.isSized ? { mostSizeClass: 2 } : {}),
    priority: 0,
    invocation: `invocation ${planned.action % 2}`,
    timeoutMs: 600_000,
    doNotCache: planned.doNotCache,
  };
  const { executionId } = await untilAnswered(
    loop,
    () => network.call(world.anyServer(), callMs, ({ queue }) => queue.submit(request)),
    goOn(world, id),
  );
  world.observe({ kind: "accepted", request: id, execution: executionId });
  if (planned.cancelAfterMs !== undefined)
    void cancelLater(world, executionId, planned.cancelAfterMs);
  // It looks twice: what has ended may not change.
  for (let looks = 0; looks < 2; looks++) {
    const finished = await untilEnd(world, executionId);
    if (finished === undefined) {
      world.observe({ kind: "unknown", request: id, execution: executionId });
      return;
    }
    world.observe({
      kind: "ended",
      request: id,
      execution: executionId,
      outcome: finished.outcome,
      attempt: finished.attempt,
      token: tokenOf(finished),
    });
    await loop.sleep(loop.random.integer(100, 8_000));
  }
}

async function cancelLater(world: World, id: ExecutionId, ms: number): Promise<void> {
  const { loop, network } = world;
  await loop.sleep(ms);
  world.observe({ kind: "cancelled", execution: id });
  await untilAnswered(
    loop,
    () =>
      network.call(world.anyServer(), callMs, async ({ queue }) => {
        const after = await queue.transaction((tx) => queue.cancel(tx, [id]));
        after();
      }),
    goOn(world, id),
  );
}

/** Returns the end of an execution; undefined when the farm does not know it. */
async function untilEnd(world: World, id: ExecutionId): Promise<FinishedExecution | undefined> {
  const { loop, network } = world;
  try {
    return await untilAnswered(
      loop,
      () =>
        network.call(world.anyServer(), followMs, ({ queue }, signal) =>
          queue.waitForEnd(id, signal),
        ),
      (reason) =>
        (reason instanceof Fault && reason.code === "cancelled") ||
        (!isNotFound(reason) && goOn(world, id)(reason)),
    );
  } catch (reason) {
    if (isNotFound(reason)) return undefined;
    throw reason;
  }
}

function isNotFound(reason: unknown): boolean {
  return reason instanceof Fault && reason.code === "not_found";
}

function tokenOf({ outcome, result }: FinishedExecution): string | undefined {
  if (outcome !== "succeeded" || result === undefined) return undefined;
  return Buffer.from(fromBinary(ActionResultSchema, result).stdoutRaw).toString();
}

/** Submits a graph, reads it until its end, and perhaps cancels it or runs a job of it again meanwhile. */
export function startGraphClient(world: World, planned: PlannedGraph, n: number): void {
  const { loop } = world;
  const client = new SimulatedProcess(`client-${n}`);
  world.open++;
  loop.after(
    planned.atMs,
    () => {
      graphClientOf(world, planned, n).then(
        () => world.open--,
        () => world.open--,
      );
    },
    client,
  );
}

async function graphClientOf(world: World, planned: PlannedGraph, n: number): Promise<void> {
  const { loop, network } = world;
  const id = GraphId.parse(loop.random.uuid());
  const source = planned.sharesWith ?? n;
  for (const { name, behaviour } of planned.jobs) {
    const key = `${source}/${name}`;
    const jobs = [...(world.actions.get(key)?.jobs ?? []), { graph: id, job: name }];
    world.actions.set(key, { behaviour, jobs });
  }
  const plan = planOf(planned.jobs, source);
  const sentAt = loop.nowMs;
  await untilAnswered(
    loop,
    () => network.call(world.anyServer(), callMs, ({ db }) => storeGraph(db, id, plan)),
    goOn(world, id),
  );
  const { needs, ...promised } = promisedBy(planned.jobs);
  // A graph that shares its actions may find results that were made for the other one.
  const isAlone = world.scenario.graphs.every(({ sharesWith }) => sharesWith === undefined);
  const order = isAlone ? { needs } : {};
  world.observe({ kind: "submitted", graph: id, at: sentAt, ...promised, ...order });
  const asked: Promise<void>[] = [];
  if (planned.cancelAfterMs !== undefined) asked.push(cancel(world, id, planned.cancelAfterMs));
  else if (planned.retriggerAfterMs !== undefined)
    asked.push(runAgain(world, id, planned.jobs, planned.retriggerAfterMs));
  const isAsked = Promise.all(asked);
  let isOver = false;
  while (!isOver) {
    await loop.sleep(500 + 1_500 * loop.random.next());
    isOver = (await read(world, id)) !== "running";
    if (isOver) {
      await isAsked;
      await loop.sleep(1_000);
      isOver = (await read(world, id)) !== "running";
    }
  }
}

async function read(world: World, id: GraphId): Promise<string> {
  const { loop, network } = world;
  const asked = world.timesAsked(id);
  const graph = await untilAnswered(
    loop,
    () => network.call(world.anyServer(), callMs, ({ db }) => wholeGraph(db, id)),
    goOn(world, id),
  );
  // The answer may be older than a request to run again that was made meanwhile: nobody can say in which order they are.
  if (graph !== undefined && world.timesAsked(id) !== asked) return "running";
  if (graph === undefined) {
    world.observe({ kind: "not-found", graph: id });
    return "lost";
  }
  const jobs = Object.fromEntries(graph.jobList.map(({ name, state }) => [name, state]));
  world.observe({ kind: "read", graph: id, state: graph.state, jobs, at: loop.nowMs });
  return graph.state;
}

async function cancel(world: World, id: GraphId, ms: number): Promise<void> {
  const { loop, network } = world;
  await loop.sleep(ms);
  world.observe({ kind: "asked", graph: id, for: "its end" });
  await untilAnswered(
    loop,
    () =>
      network.call(world.anyServer(), callMs, ({ db, queue }) =>
        cancelGraph(db, queue, everybody, id),
      ),
    goOn(world, id),
  );
}

async function runAgain(
  world: World,
  id: GraphId,
  jobs: readonly PlannedJob[],
  ms: number,
): Promise<void> {
  const { loop, network } = world;
  await loop.sleep(ms);
  const { name } = loop.random.pick(jobs.filter(({ kind }) => kind === "command"));
  world.observe({ kind: "asked", graph: id, for: "another run" });
  const once = loop.random.uuid();
  await untilAnswered(
    loop,
    () =>
      network.call(world.anyServer(), callMs, ({ db }) =>
        retrigger(
          { db, pricePerWorkerMinute: 0 },
          id,
          {
            jobs: [name],
            mode: "downstream",
            wholeSet: false,
            dryRun: false,
            onlyStale: false,
            times: 1,
            another: false,
          },
          everybody,
          once,
        ),
      ),
    // `aborted`: an earlier call has had its effect.
    (reason) => reason instanceof Fault && reason.code === "unavailable",
  ).catch((reason: unknown) => loop.trace(`not run again: ${String(reason)}`));
  // A reader may have seen states of before the request until now.
  world.observe({ kind: "asked", graph: id, for: "another run" });
}

/** The plan of a graph; the names of its actions say which behaviour they have. */
function planOf(jobs: readonly PlannedJob[], source: number): Plan {
  const definitions = jobs.map((job): [string, JobDefinition] => [
    job.name,
    definitionOf(job, source),
  ]);
  const edges = jobs.flatMap(({ name, needs }) =>
    Object.entries(needs).map(([on, condition]) => ({ job: name, on, condition })),
  );
  return { catalog: catalogOf(new Map(definitions)), edges, inactive: new Set() };
}

function definitionOf(job: PlannedJob, source: number): JobDefinition {
  const needs = Object.fromEntries(
    Object.entries(job.needs).map(([on, condition]) => [on, { on: condition, outputs: [] }]),
  );
  const about = { kind: job.kind, needs };
  switch (job.kind) {
    case "command":
      return { ...about, commands: [`simulated ${source}/${job.name}`], retries: job.retries };
    case "timer":
      return { ...about, after: `${Math.ceil(job.afterMs / 1_000)}s` };
    case "notify":
      return { ...about, to: [webhookUrl], message: "" };
    case "join":
    case "dummy":
      return about;
  }
}

/** What may be expected of the jobs: workers get none before what it needs has succeeded. */
function promisedBy(jobs: readonly PlannedJob[]) {
  const isCommand = new Set(jobs.filter(({ kind }) => kind === "command").map(({ name }) => name));
  const needs = Object.fromEntries(
    jobs.map(({ name, needs: all }) => [
      name,
      Object.entries(all)
        .filter(([on, condition]) => condition === "success" && isCommand.has(on))
        .map(([on]) => on),
    ]),
  );
  const timers = Object.fromEntries(
    jobs.filter(({ kind }) => kind === "timer").map(({ name, afterMs }) => [name, afterMs]),
  );
  const notifies = jobs.filter(({ kind }) => kind === "notify").map(({ name }) => name);
  return { needs, timers, notifies };
}

/** Stores a planned graph as a submission does, without the commit that it would come from. */
async function storeGraph(db: Db, id: GraphId, plan: Plan): Promise<void> {
  const begun = await beginGraph(plan);
  await db.transaction((tx) => keepCatalog(tx, plan.catalog));
  await db.transaction(async (tx) => {
    await insertGraph(tx, {
      begun,
      id,
      catalog: plan.catalog,
      repository: await nameRepository(tx, "/simulated"),
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
}
