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

/** `kept`: the farm could not be asked in time, and the next process will. */
type Answer = "published" | "refused" | "kept";

/** Small enough for one message, however long the farm was away. */
const mostInOneCall = 64;
/** The limit of servers for one message, less the overhead of a result. In bytes. */
const mostBytes = 4_000_000;

/**
 * Reports results until the farm has answered for each.
 *
 * Results that arrive during a call are sent with the next: under load one call carries many.
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
   * Stores the result, which then survives this process. Call `deliver` afterwards, also when writing failed: the farm
   * may be reachable, and the result is correct.
   */
  async keep(finished: Finished): Promise<void> {
    try {
      await this.#spool.keep(finished);
    } catch (reason) {
      this.#logger.warn(
        { lease: leaseKey(finished.lease), reason: messageOf(reason) },
        "a result cannot be kept on disk; it is lost if this process ends before it is reported",
      );
    }
  }

  /**
   * Delivers and stores at the same time, for a result that nothing has waited for yet: the disk works while the farm
   * has the result. If the process ends in between, the result may be lost, as if the process had ended a moment
   * earlier.
   */
  async deliverAndKeep(finished: Finished): Promise<Answer> {
    let answer: Answer | undefined;
    const answered = this.deliver(finished).then((given) => (answer = given));
    // By then its bytes were sent.
    await new Promise((resolve) => setImmediate(resolve));
    const key = leaseKey(finished.lease);
    const isUnanswered = this.#waiting.some((each) => leaseKey(each.finished.lease) === key);
    // A result that the farm has answered meanwhile must not be stored.
    if (isUnanswered || answer === "kept") await this.keep(finished);
    return answered;
  }

  /** Resolves with the answer of the farm, or when the reporter stops. */
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

  /** Delivers the results that an earlier process left. */
  async deliverLeft(): Promise<void> {
    const { results, broken } = await this.#spool.left();
    for (const file of broken) this.#logger.warn({ file }, "a kept result is broken, and removed");
    for (const finished of results) void this.deliver(finished);
  }

  /** Gives up on the farm for now: unacknowledged results stay in the spool. */
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
          // One of them causes the failure: sent alone it is found, and does not delay the others.
          const [first] = batch;
          if (batch.length === 1 && first !== undefined) {
            if (first.finished.result !== undefined) this.#makeAcceptable(first, reason);
            else {
              // Not even its failure is accepted: the lease will expire.
              this.#waiting.shift();
              await this.#settle(first, undefined);
            }
          }
          most = 1;
          continue;
        }
        failures++;
        if (!isPassing(reason)) {
          // The farm is there, and stumbles at one of them: the others go before it, and not with it.
          this.#waiting.push(...this.#waiting.splice(0, batch.length));
          most = 1;
        }
        this.#logger.warn(
          { reason: messageOf(reason), failures },
          "results cannot be reported; they are kept",
        );
        await rest(backoffMs(failures, Math.random()), this.#stopped.signal);
      }
    }
    // At once, in the same turn as the last look at what waits: nothing falls between.
    this.#delivering = false;
    for (const { resolve } of this.#waiting.splice(0)) resolve("kept");
  }

  /** A result that the farm cannot take becomes a failure that says so. */
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
      // The next process reports it again, and is refused: the farm has answered for this lease.
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

/** Saying it again would be answered the same. A full disk, by contrast, may be emptied. */
function isRefusedForGood(reason: unknown): boolean {
  return reason instanceof Fault && reason.code === "invalid_argument";
}

interface Waiting {
  finished: Finished;
  readonly resolve: (answer: Answer) => void;
}
