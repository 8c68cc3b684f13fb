import { create, toBinary } from "@bufbuild/protobuf";
import type { Logger } from "pino";
import { backoffMs } from "#core/backoff.ts";
import { Fault, messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import {
  type Finished,
  FinishedSchema,
  FinishRequestSchema,
  FinishResponse_Verdict,
  Outcome,
} from "#proto/grange/worker/v1/worker_pb.ts";
import type { FarmConnection } from "./farm-connection.ts";
import { isPassing } from "./retry-window.ts";
import { leaseKey, type Spool } from "./spool.ts";

export interface WorkerIdentity {
  readonly workerName: string;
  readonly instanceId: string;
}

/** `kept`: the farm did not answer in time, and the next process will report the result. */
type Answer = "published" | "refused" | "kept";

/** Most results are acknowledged within this time; writing, renaming and removing a file for each costs more. In ms. */
const usualAnswerMs = 25;

/** Small enough for one message, even after a long absence of the farm. */
const mostInOneCall = 64;
/** The limit of servers for one message, minus the overhead of a result. In bytes. */
const mostBytes = 4_000_000;

/**
 * Reports results until the farm has answered for each.
 *
 * Results that arrive during a call are sent with the next call: under load one call sends many.
 */
export class ResultReporter {
  readonly #farm: FarmConnection;
  readonly #identity: WorkerIdentity;
  readonly #spool: Spool;
  readonly #logger: Logger;
  readonly #stopped = new AbortController();
  readonly #waiting: Waiting[] = [];
  #delivering = false;

  constructor(farm: FarmConnection, identity: WorkerIdentity, spool: Spool, logger: Logger) {
    this.#farm = farm;
    this.#identity = identity;
    this.#spool = spool;
    this.#logger = logger;
  }

  /**
   * Stores the result, which then survives this process. Call `deliver` afterwards, even when writing failed, because
   * the farm may be reachable and the result is correct.
   */
  async keep(finished: Finished): Promise<void> {
    try {
      await this.#spool.keep(finished);
    } catch (reason) {
      this.#logger.warn(
        { lease: leaseKey(finished.lease), reason: messageOf(reason) },
        "a result cannot be stored on disk; it is lost if this process ends before it is reported",
      );
    }
  }

  /**
   * Delivers, and stores only what the farm does not acknowledge at once, for a result that no caller has waited for yet.
   * If the process ends in between, the result may be lost, as if the process had ended a moment earlier.
   */
  async deliverAndKeep(finished: Finished): Promise<Answer> {
    let answer: Answer | undefined;
    const enough = new AbortController();
    const answered = this.deliver(finished).then((given) => {
      enough.abort("answered");
      return (answer = given);
    });
    await rest(usualAnswerMs, enough.signal);
    const key = leaseKey(finished.lease);
    const isUnanswered = this.#waiting.some((each) => leaseKey(each.finished.lease) === key);
    // A result that the farm has acknowledged meanwhile must not be stored.
    if (isUnanswered || answer === "kept") await this.keep(finished);
    return answered;
  }

  /** Resolves with the farm's answer, or when the reporter stops. */
  deliver(finished: Finished): Promise<Answer> {
    const answered = new Promise<Answer>((resolve) => {
      const item = { finished, resolve };
      const bytes = toBinary(FinishedSchema, finished).length;
      if (bytes > mostBytes) {
        this.#makeAcceptable(item, `it takes ${bytes} bytes; name fewer outputs, or a directory`);
      }
      this.#waiting.push(item);
    });
    if (!this.#delivering) void this.#deliverAll();
    return answered;
  }

  /** Delivers the stored results of an earlier process. */
  async deliverLeft(): Promise<void> {
    const { results, broken } = await this.#spool.left();
    for (const file of broken)
      this.#logger.warn({ file }, "a stored result is damaged, and was removed");
    for (const finished of results) void this.deliver(finished);
  }

  /** Stops delivering: unacknowledged results stay in the spool. */
  stop(): void {
    this.#stopped.abort();
    for (const { resolve } of this.#waiting) resolve("kept");
  }

  async #deliverAll(): Promise<void> {
    this.#delivering = true;
    let failures = 0;
    let most = mostInOneCall;
    while (this.#waiting.length > 0 && !this.#stopped.signal.aborted) {
      const batch = this.#waiting.slice(0, most);
      const request = create(FinishRequestSchema, {
        ...this.#identity,
        finished: batch.map(({ finished }) => finished),
      });
      try {
        const { verdicts } = await this.#farm.finish(request);
        this.#waiting.splice(0, batch.length);
        failures = 0;
        most = Math.min(mostInOneCall, 2 * most);
        await Promise.all(batch.map((item, at) => this.#settle(item, verdicts[at])));
      } catch (reason) {
        if (isRefusedForGood(reason)) {
          // One of them causes the failure: it is found by sending each alone, and does not delay the others.
          const [first] = batch;
          if (batch.length === 1 && first !== undefined) {
            if (first.finished.result !== undefined) this.#makeAcceptable(first, reason);
            else {
              // The farm does not even accept the failure report: the lease will expire.
              this.#waiting.shift();
              await this.#settle(first, undefined);
            }
          }
          most = 1;
          continue;
        }
        failures++;
        if (!isPassing(reason)) {
          // The farm is reachable, but fails on one of them: the others are sent first, in separate calls.
          this.#waiting.push(...this.#waiting.splice(0, batch.length));
          most = 1;
        }
        this.#logger.warn(
          { reason: messageOf(reason), failures },
          "results cannot be reported; they are stored until then",
        );
        await rest(backoffMs(failures, Math.random()), this.#stopped.signal);
      }
    }
    // Synchronously after the last check of the waiting results, so that no result is missed in between.
    this.#delivering = false;
    for (const { resolve } of this.#waiting.splice(0)) resolve("kept");
  }

  /** Replaces a result that the farm cannot accept by a failure with a message. */
  #makeAcceptable(item: Waiting, reason: unknown): void {
    this.#logger.warn({ reason: messageOf(reason) }, "the farm cannot take a result");
    const { result: _, ...withoutResult } = item.finished;
    item.finished = {
      ...withoutResult,
      outcome: Outcome.FAILED,
      message: `the farm could not take its result: ${messageOf(reason)}`,
    };
  }

  async #settle({ finished, resolve }: Waiting, verdict: FinishResponse_Verdict | undefined) {
    try {
      await this.#spool.drop(finished.lease);
    } catch (reason) {
      // The next process reports it again, and is refused because the farm has already answered for this lease.
      this.#logger.warn(
        { lease: leaseKey(finished.lease), reason: messageOf(reason) },
        "a reported result cannot be removed from disk",
      );
    }
    const published = verdict === FinishResponse_Verdict.PUBLISHED;
    if (!published) {
      this.#logger.warn(
        { lease: leaseKey(finished.lease) },
        "a result was refused: its lease was over",
      );
    }
    resolve(published ? "published" : "refused");
  }
}

/** A repeated report would get the same answer. A full disk, by contrast, may get free space. */
function isRefusedForGood(reason: unknown): boolean {
  return reason instanceof Fault && reason.code === "invalid_argument";
}

interface Waiting {
  finished: Finished;
  readonly resolve: (answer: Answer) => void;
}
