import type { Logger } from "pino";
import { messageOf } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import type { Db, Tx } from "#db/db.ts";
import { type TaughtExecution, taughtExecutions } from "#execution/taught-executions.store.ts";
import { addLesson, emptyHistory, type Lesson } from "./add-runs.ts";
import {
  type KeyName,
  nameOf,
  readHistories,
  type WrittenHistory,
  writeHistories,
} from "./key-history.store.ts";
import type { KeyHistory } from "./key-history.ts";
import { takeLessons } from "./lesson.store.ts";
import { lessonOf } from "./lesson-of.ts";
import type { OfferedClasses } from "./offered-classes.ts";

/** What ends within so long is learned together. */
const soonMs = 100;
/** Lessons of a server that died are learned by another after this at the latest. */
const everyMs = 5_000;
const perTurn = 200;

export interface Learning extends Service {
  /** There is something to learn. */
  soon(): void;
  /** Learns all there is, as it does by itself. */
  learnNow(): Promise<void>;
}

/**
 * Adds what executions came to to the histories of their keys.
 *
 * Apart from the transaction that ends an execution, since executions of one kind end at the same time and would
 * wait for each other's rows. What is to be learned is durable with the end; each lesson is learned once.
 */
export function learning(parts: {
  readonly db: Db;
  readonly logger: Logger;
  readonly offers: Pick<OfferedClasses, "for">;
}): Learning {
  const { db, logger, offers } = parts;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const learnNow = async () => {
    for (let taken = perTurn; taken === perTurn; ) {
      taken = await db.transaction(async (tx) => {
        const ids = await takeLessons(tx, perTurn);
        if (ids === undefined) return 0;
        if (ids.length > 0) await learn(tx, await taughtExecutions(tx, ids), offers);
        return ids.length;
      });
    }
  };

  const run = () => {
    running ??= learnNow()
      .catch((reason: unknown) => {
        if (!isStopped) logger.warn({ reason: messageOf(reason) }, "could not learn; trying again");
      })
      .finally(() => {
        running = undefined;
      });
  };
  const poll = setInterval(run, everyMs);
  poll.unref();

  return {
    soon() {
      if (isStopped || timer !== undefined) return;
      timer = setTimeout(() => {
        timer = undefined;
        run();
      }, soonMs);
      timer.unref();
    },
    learnNow,
    async stop() {
      isStopped = true;
      clearInterval(poll);
      clearTimeout(timer);
      await running;
    },
  };
}

/** In the order in which they ended, so that the last of each class are the last. */
async function learn(
  tx: Tx,
  executions: readonly TaughtExecution[],
  offers: Pick<OfferedClasses, "for">,
): Promise<void> {
  const taught = executions
    .flatMap((execution) => {
      const greatest = offers.for(execution.requirements).at(-1)?.sizeClass;
      const lesson = lessonOf(execution, greatest);
      return lesson === undefined ? [] : [{ execution, lesson }];
    })
    .toSorted((a, b) => a.lesson.endedAt - b.lesson.endedAt);
  const names = new Map<string, KeyName>();
  for (const { execution } of taught)
    for (const name of keysOf(execution)) names.set(nameOf(name), name);
  const known = await readHistories(tx, [...names.values()]);
  await writeHistories(tx, addAll(taught, known));
}

function addAll(
  taught: readonly { readonly execution: TaughtExecution; readonly lesson: Lesson }[],
  known: ReadonlyMap<string, KeyHistory>,
): WrittenHistory[] {
  const written = new Map<string, WrittenHistory>();
  for (const { execution, lesson } of taught) {
    for (const name of keysOf(execution)) {
      const id = nameOf(name);
      const before = written.get(id);
      const history = before?.history ?? known.get(id) ?? emptyHistory(name.key);
      const changed = [...(before?.changed ?? []), ...lesson.runs.map((run) => run.sizeClass)];
      written.set(id, {
        ...name,
        title: execution.title,
        history: addLesson(history, lesson),
        changed: [...new Set(changed)],
        seenAt: new Date(lesson.endedAt),
      });
    }
  }
  return [...written.values()];
}

function keysOf({ project, domain, kin }: TaughtExecution): KeyName[] {
  return kin.map((key) => ({ project, domain, key }));
}
