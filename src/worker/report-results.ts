import { create } from "@bufbuild/protobuf";
import type { Logger } from "pino";
import { messageOf } from "#core/fault.ts";
import {
  type Finished,
  FinishRequestSchema,
  FinishResponse_Verdict,
} from "#proto/grange/worker/v1/worker_pb.ts";
import { backoffMs } from "./backoff.ts";
import type { FarmConnection } from "./farm-connection.ts";
import { rest } from "./resting.ts";
import { leaseKey, type Spool } from "./spool.ts";

export interface WorkerIdentity {
  readonly workerName: string;
  readonly instanceId: string;
}

/** `kept`: the farm could not be asked in time, and the next process will. */
export type Answer = "published" | "refused" | "kept";

/** Small enough for one message, however long the farm was away. */
const mostInOneCall = 64;

/**
 * Reports results until the farm has answered for each.
 *
 * What ends while a call is under way goes with the next: under load one call
 * carries many.
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

  /** From here on the result survives this process. To be followed by `deliver`. */
  keep(finished: Finished): Promise<void> {
    return this.#spool.keep(finished);
  }

  /** Resolves when the farm has answered, with what it said; or when the reporter stops. */
  deliver(finished: Finished): Promise<Answer> {
    const answered = new Promise<Answer>((resolve) => this.#waiting.push({ finished, resolve }));
    if (!this.#delivering) void this.#deliverAll();
    return answered;
  }

  /** Takes up what an earlier process left. */
  async deliverLeft(): Promise<void> {
    for (const finished of await this.#spool.left()) void this.deliver(finished);
  }

  /** Gives up on the farm for now: what it did not answer for stays in the spool. */
  stop(): void {
    this.#stopped.abort();
    for (const { resolve } of this.#waiting) resolve("kept");
  }

  async #deliverAll(): Promise<void> {
    this.#delivering = true;
    let failures = 0;
    while (this.#waiting.length > 0 && !this.#stopped.signal.aborted) {
      const batch = this.#waiting.slice(0, mostInOneCall);
      const request = create(FinishRequestSchema, {
        ...this.#identity,
        finished: batch.map(({ finished }) => finished),
      });
      try {
        const { verdicts } = await this.#farm.finish(request);
        this.#waiting.splice(0, batch.length);
        failures = 0;
        await Promise.all(batch.map((item, at) => this.#settle(item, verdicts[at])));
      } catch (reason) {
        failures++;
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

  async #settle({ finished, resolve }: Waiting, verdict: FinishResponse_Verdict | undefined) {
    await this.#spool.drop(finished.lease);
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

interface Waiting {
  readonly finished: Finished;
  readonly resolve: (answer: Answer) => void;
}
