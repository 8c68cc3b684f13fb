import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { coalescer } from "#core/coalescer.ts";
import { Fault } from "#core/fault.ts";
import { intervalsPerIdleHeartbeat } from "#core/idle-heartbeats.ts";
import type { IdleState } from "#core/idle-state.ts";
import { startPacedTimer } from "#core/paced-timer.ts";
import type { Db } from "#db/db.ts";
import { claimDispatcher } from "./claiming/claim-dispatcher.ts";
import { lookAheadService } from "./claiming/look-ahead-service.ts";
import type { ExecutionQueue } from "./execution-queue.ts";
import { executionWatch } from "./execution-watch.ts";
import { cancelExecutions } from "./finishing/cancel-executions.ts";
import { heldCancellations } from "./finishing/cancellation.store.ts";
import { cancellationService } from "./finishing/cancellation-service.ts";
import type { EndingLease } from "./finishing/decide-endings.ts";
import { judgeReport } from "./finishing/judge-report.ts";
import { leaseEndings } from "./finishing/lease-endings.ts";
import { untilCancelled } from "./finishing/until-cancelled.ts";
import { heartbeatBatches } from "./leasing/heartbeat-batches.ts";
import { hedges } from "./leasing/hedges.ts";
import type { Lease, WorkerProcess } from "./leasing/lease.ts";
import { grantedLeaseMs } from "./leasing/lease-length.ts";
import { leaseReaper } from "./leasing/lease-reaper.ts";
import { leaseStarts } from "./leasing/lease-starts.ts";
import { leasesHere } from "./leasing/leases-here.ts";
import { knownWorkers } from "./leasing/worker.store.ts";
import { workerNameService } from "./leasing/worker-name-service.ts";
import { logService } from "./logs/log-service.ts";
import { notifySilentWorkers } from "./notify.store.ts";
import { projectsOfExecutions } from "./projects-of-executions.ts";
import type { QueueHooks } from "./queue-hooks.ts";
import { listenToQueue } from "./queue-notifications.ts";
import { defaultTimes, type QueueTimes } from "./queue-times.ts";
import { readExecutions } from "./read-executions.store.ts";
import { sizeChooser } from "./sizing/size-chooser.ts";
import type { Analyzer } from "./sizing/size-class-roles.ts";
import { announcedExecutions } from "./submitting/announced-executions.ts";
import { submissions } from "./submitting/submissions.ts";

export async function openExecutionQueue(parts: {
  readonly db: Db;
  /** Shared by all servers of a database: see `databaseClock`. */
  readonly clock: Clock;
  readonly logger: Logger;
  readonly hooks?: QueueHooks;
  /** Chooses size classes; without it none are chosen. */
  readonly analyzer?: Analyzer;
  readonly times?: Partial<QueueTimes>;
  /** While the farm is idle, the polls that back up notifications are rare. */
  readonly idle?: IdleState | undefined;
}): Promise<ExecutionQueue> {
  const { db, clock, logger } = parts;
  const hooks = parts.hooks ?? {};
  const times = { ...defaultTimes, ...parts.times };
  const self = randomUUID();
  const watch = executionWatch((ids) => readExecutions(db, ids));
  const logs = logService(db);
  const projects = projectsOfExecutions(db);
  const announced = announcedExecutions(clock);
  const leases = leasesHere();
  const dispatcher = claimDispatcher({
    db,
    clock,
    logger,
    leaseMs: times.leaseMs,
    overdueAfterMs: times.overdueAfterMs,
    pollMs: times.pollMs,
    idle: parts.idle,
    announced,
    leases,
    giveBack: (leased) => void release(leased.map(({ lease }) => lease)).catch(() => {}),
  });

  const lookingAhead = lookAheadService({
    db,
    clock,
    overdueAfterMs: times.overdueAfterMs,
    lastLaneOf: (instanceId) => dispatcher.lastLaneOf(instanceId),
    announced,
  });

  const chooser = sizeChooser(parts.analyzer, logger);
  const submitting = submissions({ clock, queue: dispatcher, chooser });
  const ending = leaseEndings({
    clock,
    queue: dispatcher,
    leases,
    watch,
    hooks,
    mostAttempts: times.mostAttempts,
  });
  const starting = leaseStarts({ db, clock, leases, hooks });
  const beating = heartbeatBatches({
    db,
    clock,
    leaseMs: times.leaseMs,
    heartbeatMs: times.heartbeatMs,
    hooks,
  });

  const lookingUp = coalescer(async (workers: readonly WorkerProcess[]) => {
    const known = new Map((await knownWorkers(db, workers)).map((each) => [each.name, each]));
    return workers.map(({ name, instanceId }) => {
      const worker = known.get(name);
      return worker?.instanceId === instanceId ? worker : undefined;
    });
  });

  // A worker without leases may miss one heartbeat.
  const aliveMs = 2 * intervalsPerIdleHeartbeat * times.heartbeatMs;
  const nameService = workerNameService({ db, clock, aliveMs });

  const end = async (lease: EndingLease) => ending.add(await chooser.withLearner(lease));

  const release = async (leases: readonly Lease[]) => {
    await Promise.all(leases.map((lease) => ending.add({ lease, end: { kind: "released" } })));
  };

  const rescuer = leaseReaper({
    db,
    clock,
    logger,
    everyMs: times.rescueEveryMs,
    idle: parts.idle,
    heartbeatMs: times.heartbeatMs,
    graceMs: times.graceMs,
    cancelGraceMs: times.cancelGraceMs,
    async dismiss(instanceIds) {
      dispatcher.dismiss(new Set(instanceIds));
      await notifySilentWorkers(db, self, instanceIds);
    },
    settle: end,
  });

  const secondRuns = hedges({
    db,
    clock,
    logger,
    hooks,
    idle: parts.idle,
    everyMs: times.hedgeEveryMs,
    mostAttempts: times.mostAttempts,
    transaction: (work) => dispatcher.transaction(work),
    changed: (ids) => watch.changed(ids),
  });

  const cancellations = cancellationService({ db, clock });

  const stopListening = await listenToQueue(db, {
    self,
    dispatcher,
    cancellations,
    watch,
    endings: ending,
    logs,
  });
  // A backup for notifications, in case the listening connection is dead without an error.
  const endSweep = startPacedTimer(times.sweepEveryMs, parts.idle, () => watch.changedAll());

  return {
    times,
    submit: (request) => submitting.add(request),
    chooseSizes: (requests) => chooser.choose(requests),
    submitIn: (tx, requests) => submitting.submitIn(tx, requests),
    transaction: (work) => dispatcher.transaction(work),
    follow: (id, signal, first) => watch.follow(id, signal, first),
    waitForEnd: (id, signal) => watch.waitForEnd(id, signal),

    stillWanted: async (tx, ids) => (await hooks.stillWanted?.(tx, ids)) ?? [],

    async cancel(tx, ids) {
      const after = await cancelExecutions(tx, ids, clock.now(), hooks);
      return () => {
        watch.changed(ids);
        after();
      };
    },

    untilCancelled: async (ids, withinMs) =>
      untilCancelled(watch, await heldCancellations(db, ids), withinMs),
    cancellations: (worker, confirmed, waitMs, signal) =>
      cancellations.next(worker, confirmed, waitMs, signal),

    async register(described) {
      const leaseMs = grantedLeaseMs(described.leaseMs, times);
      const others = await nameService.register(
        described.leaseMs === null ? described : { ...described, leaseMs },
      );
      await Promise.all(others.map((lease) => end({ lease, end: { kind: "replaced" } })));
      return leaseMs;
    },

    async claim(process, most, waitMs, signal) {
      const asOf = dispatcher.generation();
      const worker = await lookingUp.add(process);
      if (worker === undefined) {
        throw new Fault(
          "not_found",
          `the worker ${process.name} is not registered, or was replaced`,
        );
      }
      if (most < 1) return [];
      const isResting = worker.draining;
      const leased = await dispatcher.claim({ worker, most, waitMs, signal, isResting, asOf });
      projects.handedOut(leased);
      return leased;
    },

    async lookAhead(process, most) {
      const worker = await lookingUp.add(process);
      if (worker === undefined || worker.draining) return [];
      return lookingAhead.ahead(worker, most);
    },

    hintAhead: (hint) => lookingAhead.hint(hint),

    heartbeat: (beat) => beating.add(beat),
    started: (lease, at) => starting.add({ lease, at }),
    release,

    async finish(report) {
      return end(await judgeReport(report, hooks, (id) => projects.of(id)));
    },

    appendLog: (chunk) => logs.append(chunk),
    onLog: (grown) => logs.onLog(grown),

    rescue: () => rescuer.rescueOnce(),
    lookAfterHedges: () => secondRuns.lookAfter(),

    async stop() {
      endSweep();
      cancellations.stop();
      await Promise.all([rescuer.stop(), secondRuns.stop(), dispatcher.stop(), stopListening()]);
      await Promise.all([submitting, ending, starting, beating].map((each) => each.idle()));
    },
  };
}
