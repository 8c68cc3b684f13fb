import type { Logger } from "pino";
import { Fault, messageOf } from "#core/fault.ts";
import type { IdleState } from "#core/idle-state.ts";
import { startPacedTimer } from "#core/paced-timer.ts";
import type { Service } from "#core/service.ts";
import type { Db, Tx } from "#db/db.ts";
import { commitWithoutWaiting } from "#execution/claiming/prefer-indexes.store.ts";
import type { ExecutionId } from "#execution/execution.ts";
import {
  type ObservedExecution,
  observedExecutions,
} from "#execution/sizing/observed-executions.store.ts";
import { addObservation, emptyHistory, type Observation } from "./add-runs.ts";
import {
  type HistoryUpdate,
  type KeyName,
  nameOf,
  readHistories,
  writeHistories,
} from "./key-history.store.ts";
import type { KeyHistory } from "./key-history.ts";
import { dropObservations, takeObservations } from "./observation.store.ts";
import { observationOf } from "./observation-of.ts";
import type { OfferedClasses } from "./offered-classes.ts";

/**
 * The maximum pause between turns, as a multiple of a turn's duration: a turn costs as much for fifteen executions as
 * for one.
 *
 * So with few ended executions, a run is learned at once, before its action runs again; with many, learning takes at
 * most a tenth of the time.
 */
const pauseOverTurn = 9;
const longestPauseMs = 500;
/**
 * The minimum pause: a turn of 5 ms would be repeated after 45 ms. With small actions that was one turn for seven ended
 * executions, and 3 % of what the server and PostgreSQL spend on them.
 */
const shortestPauseMs = 250;
/** Another server learns the observations of a dead one after this time at the latest. */
const everyMs = 5_000;
const perTurn = 200;

interface Learning extends Service {
  /** Signals that there are new observations. */
  soon(): void;
  /** Learns all stored observations at once. */
  learnNow(): Promise<void>;
}

/**
 * Adds the results of executions to the histories of their keys.
 *
 * Separate from the transaction that ends an execution, because executions of one kind end at the same time and would
 * wait for each other's rows. The observation is durable with the end; each is added once.
 */
export function learning(parts: {
  readonly db: Db;
  readonly logger: Logger;
  readonly offers: Pick<OfferedClasses, "for">;
  readonly idle?: IdleState | undefined;
}): Learning {
  const { db, logger, offers } = parts;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let isMore = false;
  let nextAt = 0;

  const turn = (most: number, taken: (ids: readonly ExecutionId[]) => void) =>
    db.transaction(async (tx) => {
      // A crash loses both the histories and the removal of their observations, so they are added again. And
      // transactions that end executions do not wait for this transaction's disk write.
      await commitWithoutWaiting(tx);
      const ids = (await takeObservations(tx, most)) ?? [];
      taken(ids);
      if (ids.length > 0) await learn(tx, await observedExecutions(tx, ids), offers);
      return ids.length;
    });

  /** One faulty observation must not block all others: it is found by adding fewer at once. */
  const turnOrSkip = async (most: number): Promise<number> => {
    let ids: readonly ExecutionId[] = [];
    try {
      return await turn(most, (taken) => {
        ids = taken;
      });
    } catch (reason) {
      if (ids.length === 0 || isPassing(reason)) throw reason;
      if (ids.length > 1) {
        const half = Math.ceil(ids.length / 2);
        const first = await turnOrSkip(half);
        return first + (await turnOrSkip(ids.length - half));
      }
      await dropObservations(db, ids);
      logger.warn({ execution: ids[0], reason: messageOf(reason) }, "could not be learned from");
      return 1;
    }
  };

  const learnNow = async () => {
    for (let taken = perTurn; taken === perTurn && !isStopped; ) taken = await turnOrSkip(perTurn);
  };

  const run = () => {
    // The running call may have read before the newest observation was stored.
    isMore = running !== undefined;
    if (running !== undefined) return;
    const beganAt = performance.now();
    running = learnNow()
      .catch((reason: unknown) => {
        if (!isStopped) logger.warn({ reason: messageOf(reason) }, "could not learn; trying again");
      })
      .finally(() => {
        running = undefined;
        const endedAt = performance.now();
        const pauseMs = pauseOverTurn * (endedAt - beganAt);
        nextAt = endedAt + Math.min(longestPauseMs, Math.max(shortestPauseMs, pauseMs));
        if (isMore && !isStopped) service.soon();
      });
  };
  const endPoll = startPacedTimer(everyMs, parts.idle, run);

  const service: Learning = {
    soon() {
      if (isStopped || timer !== undefined) return;
      timer = setTimeout(
        () => {
          timer = undefined;
          run();
        },
        Math.max(0, nextAt - performance.now()),
      );
      timer.unref();
    },
    learnNow,
    async stop() {
      isStopped = true;
      endPoll();
      clearTimeout(timer);
      await running;
    },
  };
  return service;
}

/** Returns whether the database is busy or unreachable; an error caused by a row would occur again. */
function isPassing(reason: unknown): boolean {
  return (
    reason instanceof Fault &&
    ["unavailable", "aborted", "resource_exhausted"].includes(reason.code)
  );
}

/** In the order in which they ended, so that the last runs of each class are stored. */
async function learn(
  tx: Tx,
  executions: readonly ObservedExecution[],
  offers: Pick<OfferedClasses, "for">,
): Promise<void> {
  const taught = executions
    .flatMap((execution) => {
      const greatest = offers.for(execution.requirements).at(-1)?.sizeClass;
      const observation = observationOf(execution, greatest);
      return observation === undefined ? [] : [{ execution, observation }];
    })
    .toSorted((a, b) => a.observation.endedAt - b.observation.endedAt);
  const names = new Map<string, KeyName>();
  for (const { execution } of taught)
    for (const name of keysOf(execution)) names.set(nameOf(name), name);
  const known = await readHistories(tx, [...names.values()]);
  await writeHistories(tx, addAll(taught, known));
}

function addAll(
  taught: readonly { readonly execution: ObservedExecution; readonly observation: Observation }[],
  known: ReadonlyMap<string, KeyHistory>,
): HistoryUpdate[] {
  const written = new Map<string, HistoryUpdate>();
  for (const { execution, observation } of taught) {
    for (const name of keysOf(execution)) {
      const id = nameOf(name);
      const before = written.get(id);
      const history = before?.history ?? known.get(id) ?? emptyHistory(name.key);
      const changed = [...(before?.changed ?? []), ...observation.runs.map((run) => run.sizeClass)];
      written.set(id, {
        ...name,
        title: execution.title,
        history: addObservation(history, observation),
        changed: [...new Set(changed)],
        seenAt: new Date(observation.endedAt),
      });
    }
  }
  return [...written.values()];
}

function keysOf({ project, domain, similarityKeys }: ObservedExecution): KeyName[] {
  return [...new Set(similarityKeys)].map((key) => ({ project, domain, key }));
}
