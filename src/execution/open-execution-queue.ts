import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { coalescer } from "#core/coalescer.ts";
import { Fault } from "#core/fault.ts";
import { intervalsPerIdleHeartbeat } from "#core/idle-heartbeats.ts";
import type { IdleState } from "#core/idle-state.ts";
import { startPacedTimer } from "#core/paced-timer.ts";
import type { Db, Tx } from "#db/db.ts";
import { together } from "#db/together.ts";
import { announcedExecutions } from "./announced-executions.ts";
import { cancelExecutions } from "./cancel-executions.ts";
import { heldCancellations } from "./cancellation.store.ts";
import { cancellationService } from "./cancellation-service.ts";
import { claimDispatcher } from "./claim-dispatcher.ts";
import { drainChannel } from "./drain.store.ts";
import { durationOracle } from "./duration-oracle.ts";
import { ExecutionId, type ExecutionRequest } from "./execution.ts";
import type { ExecutionQueue } from "./execution-queue.ts";
import { executionWatch } from "./execution-watch.ts";
import { type Heartbeat, takeHeartbeats } from "./heartbeat.ts";
import { hedges } from "./hedges.ts";
import { judgeReport } from "./judge-report.ts";
import { currentLeases, markStarted } from "./lease.store.ts";
import { type Lease, leaseKey, type WorkerProcess } from "./lease.ts";
import { grantedLeaseMs } from "./lease-length.ts";
import { leaseRescuer } from "./lease-rescuer.ts";
import { leasesHere } from "./leases-here.ts";
import { appendLogChunk } from "./log.store.ts";
import { lookAheadService } from "./look-ahead-service.ts";
import {
  cancellationChannel,
  executionChannel,
  logChannel,
  notifyExecutions,
  notifySilentWorkers,
  queueChannel,
  silentWorkerChannel,
} from "./notify.store.ts";
import { commitWithoutWaiting, preferIndexes } from "./prefer-indexes.store.ts";
import { projectsOfExecutions } from "./projects-of-executions.ts";
import type { QueueHooks } from "./queue-hooks.ts";
import { type QueueTimes, usualTimes } from "./queue-times.ts";
import { readExecutions } from "./read-executions.store.ts";
import { reviveLeases } from "./revive-leases.ts";
import { type EndingLease, settleLeases } from "./settle-leases.ts";
import { sizeChooser } from "./size-chooser.ts";
import type { Analyzer } from "./size-class-roles.ts";
import { submitExecutions } from "./submit-executions.store.ts";
import { untilCancelled } from "./until-cancelled.ts";
import { knownWorkers } from "./worker.store.ts";
import { workerNameService } from "./worker-name-service.ts";

export async function openExecutionQueue(parts: {
  readonly db: Db;
  /** Shared by all servers of a database: see `databaseClock`. */
  readonly clock: Clock;
  readonly logger: Logger;
  readonly hooks?: QueueHooks;
  /** Chooses size classes; nobody does when absent. */
  readonly analyzer?: Analyzer;
  readonly times?: Partial<QueueTimes>;
  /** While the farm is idle, the nets below notifications look rarely. */
  readonly idle?: IdleState | undefined;
}): Promise<ExecutionQueue> {
  const { db, clock, logger } = parts;
  const hooks = parts.hooks ?? {};
  const times = { ...usualTimes, ...parts.times };
  const watch = executionWatch((ids) => readExecutions(db, ids));
  const logFollowers = new Set<(id: ExecutionId | undefined) => void>();
  const tellLog = (id: ExecutionId | undefined) => {
    for (const grown of logFollowers) grown(id);
  };

  const projects = projectsOfExecutions(db);
  const told = announcedExecutions(clock);
  const leases = leasesHere();
  const service = claimDispatcher({
    db,
    clock,
    logger,
    leaseMs: times.leaseMs,
    overdueAfterMs: times.overdueAfterMs,
    pollMs: times.pollMs,
    idle: parts.idle,
    told,
    leases,
    giveBack: (leased) => void release(leased.map(({ lease }) => lease)).catch(() => {}),
  });

  const lookingAhead = lookAheadService({
    db,
    clock,
    overdueAfterMs: times.overdueAfterMs,
    lastLaneOf: (instanceId) => service.lastLaneOf(instanceId),
    told,
  });

  const oracle = durationOracle(clock);
  const chooser = sizeChooser(parts.analyzer, logger);
  const submitIn = async (tx: Tx, requests: readonly ExecutionRequest[]) => {
    const foreseen = await oracle.foresee(tx, requests);
    let confirmLook = () => {};
    const submitted = await submitExecutions(tx, foreseen, clock.now(), () => {
      confirmLook = service.lookEarly(tx);
    });
    // Who was joined may have gone forward since.
    if (submitted.every(({ isNew }) => isNew)) confirmLook();
    return submitted;
  };
  const submitting = coalescer(async (requests: readonly ExecutionRequest[]) => {
    const sized = await chooser.choose(requests);
    return service.transaction((tx) => submitIn(tx, sized));
  });

  // Their news comes from here, with the commit; the notification would have everybody look.
  const settling = new Set<ExecutionId>();
  const ending = coalescer(async (endings: readonly EndingLease[]) => {
    const ids = endings.map(({ lease }) => lease.executionId);
    for (const id of ids) settling.add(id);
    const taken = leases.take(endings);
    let assumed = taken;
    const settled = service.transaction(async (tx) => {
      await preferIndexes(tx);
      const { mostAttempts } = times;
      const assuming = assumed;
      assumed = undefined;
      if (assuming === undefined && taken !== undefined) leases.doubt(taken);
      return settleLeases(tx, endings, {
        now: clock.now(),
        mostAttempts,
        hooks,
        assumed: assuming,
      });
    });
    try {
      watch.ended((await settled).ended);
    } finally {
      settling.clear();
      watch.changed(ids);
    }
    const { verdicts, afterCommit } = await settled;
    afterCommit();
    return verdicts;
  });

  const starting = coalescer(async (started: readonly { lease: Lease; at: Date }[]) => {
    const said = started.map(({ lease }) => lease);
    for (const lease of said) leases.forget(lease);
    const { current, after } = await db.transaction(async (tx) => {
      // Only pages would miss it, should a crash forget it.
      await commitWithoutWaiting(tx);
      await preferIndexes(tx);
      const news = await markStarted(tx, started, clock.now());
      const [current, after] = await together([
        currentLeases(tx, said),
        news.length === 0
          ? undefined
          : hooks.onProgress?.(
              tx,
              news.map(({ executionId: id, attempt }) => ({ id, kind: "started", attempt })),
            ),
        // This server hears of it, too: nobody waits for it so eagerly as for an end.
        notifyExecutions(
          tx,
          news.map(({ executionId }) => executionId),
        ),
      ]);
      return { current: new Set(current.map(leaseKey)), after };
    });
    after?.();
    return said.map((lease) => current.has(leaseKey(lease)));
  });

  const beating = coalescer(async (beats: readonly Heartbeat[]) => {
    const answers = await db.transaction((tx) =>
      takeHeartbeats(tx, beats, clock.now(), times.leaseMs),
    );
    const answered = beats.flatMap((beat, at) => {
      const answer = answers[at];
      return answer === undefined ? [] : [{ beat, answer }];
    });
    if (answered.every(({ answer }) => answer.lost.length === 0)) return answers;
    const revived = await db.transaction(async (tx) => {
      await preferIndexes(tx);
      // The next heartbeat extends them by what the worker asked for.
      const until = new Date(clock.now().getTime() + times.leaseMs);
      return reviveLeases(tx, answered, until, hooks);
    });
    revived.after();
    return revived.answers;
  });

  const lookingUp = coalescer(async (workers: readonly WorkerProcess[]) => {
    const known = await knownWorkers(db, workers);
    return workers.map(({ name, instanceId }) =>
      known.find((each) => each.name === name && each.instanceId === instanceId),
    );
  });

  // One heartbeat of a worker without leases may be lost.
  const aliveMs = 2 * intervalsPerIdleHeartbeat * times.heartbeatMs;
  const nameService = workerNameService({ db, clock, aliveMs });

  const end = async (lease: EndingLease) => ending.add(await chooser.withLearner(lease));

  const release = async (leases: readonly Lease[]) => {
    await Promise.all(leases.map((lease) => ending.add({ lease, end: { kind: "released" } })));
  };

  const rescuer = leaseRescuer({
    db,
    clock,
    logger,
    everyMs: times.rescueEveryMs,
    idle: parts.idle,
    heartbeatMs: times.heartbeatMs,
    graceMs: times.graceMs,
    cancelGraceMs: times.cancelGraceMs,
    async dismiss(instanceIds) {
      service.dismiss(new Set(instanceIds));
      await notifySilentWorkers(db, instanceIds);
    },
    settle: end,
  });

  const secondRuns = hedges({
    db,
    clock,
    logger,
    hooks,
    idle: parts.idle,
    mostAttempts: times.mostAttempts,
    transaction: (work) => service.transaction(work),
    changed: (ids) => watch.changed(ids),
  });

  const cancellations = cancellationService({ db, clock });

  const listeners = await Promise.all([
    db.listen(queueChannel, (payload) => service.wake(payload)),
    db.listen(drainChannel, () => service.turnAway()),
    db.listen(silentWorkerChannel, (payload) => service.dismiss(new Set(payload.split(",")))),
    db.listen(cancellationChannel, (payload) => cancellations.changed(payload)),
    db.listen(executionChannel, (payload) => {
      if (payload === "") watch.changedAll();
      else watch.changed((payload.split(",") as ExecutionId[]).filter((id) => !settling.has(id)));
    }),
    db.listen(logChannel, (payload) => {
      const id = ExecutionId.safeParse(payload);
      tellLog(id.success ? id.data : undefined);
    }),
  ]);
  // The net under the notifications, should the listening connection be dead and not know it.
  const endSweep = startPacedTimer(times.sweepEveryMs, parts.idle, () => watch.changedAll());

  return {
    times,
    submit: (request) => submitting.add(request),
    chooseSizes: (requests) => chooser.choose(requests),
    submitIn,
    transaction: (work) => service.transaction(work),
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
      const asOf = service.generation();
      const worker = await lookingUp.add(process);
      if (worker === undefined) {
        throw new Fault(
          "not_found",
          `the worker ${process.name} is not registered, or was replaced`,
        );
      }
      if (most < 1) return [];
      const isResting = worker.draining;
      const leased = await service.claim({ worker, most, waitMs, signal, isResting, asOf });
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

    appendLog: async (chunk) => {
      const appended = await db.transaction(async (tx) => {
        // The worker keeps the log; what a crash forgets it sends again when it sees the gap.
        await commitWithoutWaiting(tx);
        return appendLogChunk(tx, chunk);
      });
      if (appended?.accepted) tellLog(chunk.lease.executionId);
      return appended;
    },
    onLog(grown) {
      logFollowers.add(grown);
      return () => logFollowers.delete(grown);
    },

    rescue: () => rescuer.rescueOnce(),
    lookAfterHedges: () => secondRuns.lookAfter(),

    async stop() {
      endSweep();
      cancellations.stop();
      await Promise.all([
        rescuer.stop(),
        secondRuns.stop(),
        service.stop(),
        ...listeners.map((each) => each.stop()),
      ]);
      await Promise.all([submitting, ending, starting, beating].map((each) => each.idle()));
    },
  };
}
