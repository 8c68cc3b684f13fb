import type { Logger } from "pino";
import { outputTrees } from "#actions/output-trees.ts";
import { buildDirectoryTree, uploadDirectories } from "#cas/build-directory-tree.ts";
import type { Clock } from "#core/clock.ts";
import { messageOf } from "#core/fault.ts";
import type { IdleState } from "#core/idle-state.ts";
import type { Db } from "#db/db.ts";
import { databaseClock } from "#execution/database-clock.ts";
import type { ExecutionQueue } from "#execution/execution-queue.ts";
import { openExecutionQueue } from "#execution/open-execution-queue.ts";
import type { Analyzer } from "#execution/sizing/size-class-roles.ts";
import { analyzer, chosen, final } from "#execution/sizing/sized.fixture.ts";
import { passCancellationsOn } from "#graphs/cancel-graph.ts";
import type { CommitInputReader } from "#graphs/commit-inputs.ts";
import { startGraphRunner } from "#graphs/graph-runner.ts";
import { deliverNotifications } from "#graphs/kinds/deliver-notifications.ts";
import { nextNotification } from "#graphs/kinds/notification.store.ts";
import { serverJobTasks } from "#graphs/kinds/serve-server-jobs.ts";
import { startServerJobLoop } from "#graphs/kinds/server-job-loop.ts";
import { Webhooks } from "#graphs/kinds/webhooks.ts";
import type { InProject } from "#graphs/project-of-jobs.ts";
import { startPeriodicTasks } from "#server/periodic-tasks.ts";
import { queueHooks } from "#server/queue-hooks.ts";
import { SimulatedProcess } from "./event-loop.ts";
import type { Place } from "./network.ts";
import { receiveNotification, webhookUrl } from "./receiver.ts";
import type { World } from "./world.ts";

/** What clients and workers can call on a server. */
export interface RunningServer {
  readonly db: Db;
  readonly queue: ExecutionQueue;
}

/** Starts a server at its place; it opens the database, and is reached when it is ready. */
export function startServer(world: World, place: Place<RunningServer>, start: number): void {
  const { loop } = world;
  const process = new SimulatedProcess(`${place.name}#${start}`);
  loop.trace(`${process.name} starts`);
  const skewMs = world.scenario.skewsMs[world.servers.indexOf(place)] ?? 0;
  loop.after(
    0,
    () => {
      openServer(world, process, skewMs).then(
        (service) => {
          place.running = { process, service };
          loop.trace("is ready");
        },
        (reason: unknown) => {
          // As its supervisor does it.
          loop.trace(`did not start: ${messageOf(reason)}`);
          loop.kill(process);
          world.database.forget(process);
          loop.after(500, () => startServer(world, place, start + 1), loop.world);
        },
      );
    },
    process,
  );
}

/** Kills a server, and starts another one at its place after a while. */
export function killServer(world: World, place: Place<RunningServer>): void {
  const { running } = place;
  if (running === undefined) return;
  world.loop.kill(running.process);
  world.database.forget(running.process);
  serverDied(world, running.process);
}

/** Must be called when a server has died: another one starts at its place. */
export function serverDied(world: World, process: SimulatedProcess): void {
  const { loop } = world;
  const [name = "", start = "0"] = process.name.split("#");
  const place = world.servers.find((each) => each.name === name);
  if (place === undefined) return;
  loop.trace(`${process.name} died`);
  place.running = undefined;
  const pauseMs = loop.random.integer(50, world.areFaultsOver ? 500 : 6_000);
  loop.after(pauseMs, () => startServer(world, place, Number(start) + 1), loop.world);
}

/** Assembles the farm's own services, as the server does it. */
async function openServer(
  world: World,
  process: SimulatedProcess,
  skewMs: number,
): Promise<RunningServer> {
  const { loop, scenario, store } = world;
  const db = world.database.connect(process);
  const own: Clock = { now: () => new Date(loop.nowMs + skewMs) };
  const clock = world.bug?.trustsOwnClock === true ? own : await databaseClock(db, own);
  const logger = simulatedLogger(world);
  const trees = outputTrees(store);
  const hooks = queueHooks(() => trees);
  const queue = await openExecutionQueue({
    db,
    clock,
    logger,
    hooks: world.bug?.changeHooks?.(hooks, db) ?? hooks,
    ...(scenario.isSized ? { analyzer: smallFirst() } : {}),
    times: { ...scenario.times, ...world.bug?.times },
  });
  if (scenario.graphs.length > 0) await serveGraphs(world, { db, clock, logger, trees, queue });
  return { db, queue };
}

async function serveGraphs(
  world: World,
  parts: {
    readonly db: Db;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly trees: ReturnType<typeof outputTrees>;
    readonly queue: ExecutionQueue;
  },
): Promise<void> {
  const { db, clock, logger, trees, queue } = parts;
  const { store } = world;
  const transaction: ExecutionQueue["transaction"] = (work) => queue.transaction(work);
  startPeriodicTasks(
    [
      {
        name: "send cancellations to workers",
        everyMs: 5_000,
        run: () => passCancellationsOn(db, queue),
      },
    ],
    { logger, idle: rarePolls },
  );
  const inputs = await emptyCommits(world);
  const inProject: InProject = (project) => ({ project, store, trees, inputs });
  await startGraphRunner({
    db,
    inProject,
    clock,
    logger,
    idle: rarePolls,
    transaction,
    chooseSizes: (requests) => queue.chooseSizes(requests),
  });
  const webhooks = new Webhooks([new URL(webhookUrl)]);
  const loopOf = { db, clock, logger, idle: rarePolls };
  await startServerJobLoop({
    ...loopOf,
    channels: ["grange_ready", "grange_errand"],
    tasks: serverJobTasks({ db, inProject, webhooks }),
  });
  await startServerJobLoop({
    ...loopOf,
    channels: ["grange_errand"],
    tasks: [
      {
        name: "deliver notifications",
        run: (now) =>
          deliverNotifications(
            { db, webhooks, send: (_, notification) => receiveNotification(world, notification) },
            now,
          ),
        next: () => nextNotification(db),
      },
    ],
  });
}

/** Most seeds would otherwise only poll; what is lost is found after a poll of an idle farm. */
const rarePolls: IdleState = { isIdle: () => true, onBusy: () => ({ stop() {} }) };

/** Commits without files: Git is not simulated. */
async function emptyCommits(world: World): Promise<CommitInputReader> {
  const root = await uploadDirectories(world.store, buildDirectoryTree([]));
  const empty = { entries: [], root };
  return {
    read: async () => empty,
    readChosen: async () => empty,
    nameChosen: async () => "nothing",
    doubt: () => {},
  } as unknown as CommitInputReader;
}

/** Chooses the small class first, then the greater one, and a second run there when the first one takes long. */
function smallFirst(): Analyzer {
  const first = chosen(1, {
    timeoutMs: 60_000,
    isExact: false,
    hedge: { afterMs: 4_000, sizeClass: 2 },
  });
  return analyzer(first, (run) =>
    run.sizeClass === 1 && run.outcome !== "succeeded" && run.outcome !== "worker_lost"
      ? { kind: "again", chosen: chosen(2, { timeoutMs: 60_000 }) }
      : final,
  );
}

/** A log that only the trace keeps. An error of the farm's own code is a violation. */
function simulatedLogger(world: World): Logger {
  const log = (about: unknown, message = "") => {
    const fields: { reason?: unknown; err?: unknown } =
      typeof about === "object" ? { ...about } : {};
    const { err, reason: given = err === undefined ? "" : messageOf(err) } = fields;
    const reason = typeof given === "string" ? given : messageOf(given);
    world.loop.trace(`logs ${message} ${reason}`);
    if (isOwnError(reason))
      world.broken({ promise: "consistency", subject: "", what: `${message}: ${reason}` });
  };
  const logger = { trace() {}, debug() {}, info() {}, warn: log, error: log, fatal: log };
  return { ...logger, child: () => logger } as unknown as Logger;
}

/** Whether PostgreSQL refused a statement because of a constraint or an error in it, or the code failed. */
function isOwnError(reason: string): boolean {
  return /violates|constraint|the database reports: (?!deadlock|Connection)|RangeError|TypeError|Invalid input|invalid_type/.test(
    reason,
  );
}
