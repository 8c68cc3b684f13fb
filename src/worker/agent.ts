import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampNow } from "@bufbuild/protobuf/wkt";
import type { Logger } from "pino";
import { messageOf } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import {
  ClaimRequestSchema,
  type Finished,
  type Lease,
  Outcome,
  ReleaseRequestSchema,
  StartedRequestSchema,
  type Work,
} from "#proto/grange/worker/v1/worker_pb.ts";
import { backoffMs, machineRestMs } from "./backoff.ts";
import { Changes } from "./changes.ts";
import { claimSize } from "./claim-size.ts";
import { ClaimedWork } from "./claimed-work.ts";
import type { WorkerConfig } from "./config.ts";
import type { ActionExecutor } from "./execute-action.ts";
import type { FarmConnection } from "./farm-connection.ts";
import { FarmContact } from "./farm-contact.ts";
import { FarmMembership } from "./farm-membership.ts";
import { finishedWithoutProcess } from "./finished-message.ts";
import { LogStream } from "./logs/stream-log.ts";
import type { Patience } from "./patience.ts";
import type { ResultReporter, WorkerIdentity } from "./report-results.ts";
import { rest } from "./resting.ts";
import type { StopReason } from "./run-process.ts";
import { leaseKey } from "./spool.ts";

export interface AgentParts {
  readonly config: WorkerConfig;
  readonly farm: FarmConnection;
  readonly identity: WorkerIdentity;
  readonly executor: ActionExecutor;
  readonly reporter: ResultReporter;
  readonly facilities: Readonly<Record<string, string>>;
  readonly patience: Patience;
  readonly logger: Logger;
}

/** How long one claim waits for work on the server's side. */
const claimWaitMs = 20_000;

/** Work that was claimed ahead is handed back when no slot becomes free for so long. */
const mostAheadMs = 500;

const recentCount = 8;

/** For results that are on their way when the worker stops. */
const lastWordsMs = 1_000;

interface Running {
  readonly lease: Lease;
  readonly stop: AbortController;
}

/** Claims executions, runs as many as there are slots, keeps their leases alive, and reports. */
export class Agent implements Service {
  readonly #parts: AgentParts;
  readonly #contact: FarmContact;
  readonly #membership: FarmMembership;
  readonly #running = new Map<string, Running>();
  readonly #reporting = new Map<
    string,
    { readonly lease: Lease; readonly log: LogStream | undefined }
  >();
  readonly #claimed = new ClaimedWork();
  /** Executions in a row that this machine, not the action, made fail. */
  #machineFailures = 0;
  readonly #recentMs: number[] = [];
  readonly #draining = new AbortController();
  readonly #over = new AbortController();
  readonly #loops: Promise<void>[] = [];
  /** Ends of executions and reports, and the wish to stop. */
  readonly #changes = new Changes();
  #stopping: Promise<void> | undefined;
  /** Whether a worker for one execution has it. */
  #hasTheOne = false;
  #tellOver: (why: string) => void = () => {};
  /** Resolves when a worker for one execution has delivered it; never for any other. */
  readonly over = new Promise<string>((resolve) => {
    this.#tellOver = resolve;
  });

  constructor(parts: AgentParts) {
    this.#parts = parts;
    this.#contact = new FarmContact(parts.logger);
    this.#membership = new FarmMembership(parts, this.#contact, {
      leases: () => this.#leases(),
      isDraining: () => this.#draining.signal.aborted || this.#hasTheOne,
      ended: (lease, reason) => this.#end(lease, reason),
    });
  }

  start(): void {
    this.#loops.push(this.#claimLoop(), this.#handBackLoop());
  }

  /**
   * Claims no more, and lets what runs end for a while; then hands it back. Called
   * a second time, it does not wait.
   */
  stop(): Promise<void> {
    if (this.#stopping) this.#stopAll("lost");
    this.#stopping ??= this.#drain();
    return this.#stopping;
  }

  async #drain(): Promise<void> {
    const { config, executor } = this.#parts;
    this.#draining.abort();
    this.#changes.tell();
    await this.#handBackOlderThan(Infinity);
    const deadline = new AbortController();
    const patience = rest(config.drainMs, deadline.signal).then(async () => {
      const unfinished = [...this.#running.values()].map(({ lease }) => lease);
      this.#stopAll("lost");
      await this.#handBack(unfinished);
    });
    while (this.#running.size > 0) await this.#changes.next();
    deadline.abort();
    await patience;
    this.#parts.patience.end();
    await this.#lastWords();
    this.#over.abort();
    await Promise.all(this.#loops);
    await executor.cleared();
  }

  /** Gives results a moment to be delivered; after it they are kept for the next process. */
  async #lastWords(): Promise<void> {
    const enough = new AbortController();
    const patience = rest(lastWordsMs, enough.signal).then(() => {
      for (const { log } of this.#reporting.values()) log?.stop();
      this.#parts.reporter.stop();
    });
    while (this.#reporting.size > 0) await this.#changes.next();
    enough.abort();
    await patience;
  }

  #stopAll(reason: StopReason): void {
    this.#parts.patience.end();
    for (const { stop } of this.#running.values()) stop.abort(reason);
  }

  async #claimLoop(): Promise<void> {
    const { farm, identity, config } = this.#parts;
    const { signal } = this.#draining;
    let failures = 0;
    while (!(await this.#membership.register()) && !signal.aborted) {
      await rest(backoffMs(++failures, Math.random()), signal);
    }
    // Not waited for: a last heartbeat may be under way, and ends with the connection.
    void this.#membership.heartbeats(this.#over.signal);
    failures = 0;
    while (!signal.aborted && !this.#hasTheOne) {
      const most = claimSize({
        slots: config.slots,
        running: this.#running.size,
        waiting: this.#claimed.count,
        recentMs: this.#recentMs,
      });
      if (most === 0) {
        await this.#changes.next();
        continue;
      }
      // A machine that just failed gets time to recover; others may take the work meanwhile.
      if (this.#machineFailures > 0) {
        await rest(machineRestMs(this.#machineFailures, Math.random()), signal);
      }
      try {
        const wait = durationFromMs(claimWaitMs);
        const { leases } = await farm.claim(
          create(ClaimRequestSchema, { ...identity, most, wait }),
          signal,
        );
        failures = 0;
        this.#contact.answered();
        for (const work of leases) this.#claimed.add(work, performance.now());
        this.#hasTheOne = config.once && leases.length > 0;
        if (signal.aborted) await this.#handBackOlderThan(Infinity);
        this.#begin();
      } catch (reason) {
        if (signal.aborted) return;
        failures++;
        this.#contact.failed(reason, "the farm gives no work");
        await rest(backoffMs(failures, Math.random()), signal);
      }
    }
    if (!this.#hasTheOne) return;
    while (this.#running.size > 0 || this.#reporting.size > 0) await this.#changes.next();
    this.#tellOver("its one execution is delivered");
  }

  /** Begins what was claimed, as far as there are slots. */
  #begin(): void {
    while (this.#running.size < this.#parts.config.slots && !this.#draining.signal.aborted) {
      const work = this.#claimed.take();
      if (!work) return;
      if (work.lease) void this.#run(leaseKey(work.lease), work, work.lease);
    }
  }

  async #run(key: string, work: Work, lease: Lease): Promise<void> {
    const { farm, executor, logger } = this.#parts;
    const running: Running = { lease, stop: new AbortController() };
    this.#running.set(key, running);
    const begun = performance.now();
    let log: LogStream | undefined;
    const finished = await executor.execute(work, farm.blobs(work.project), {
      stop: running.stop.signal,
      started: (stdout) => {
        log = new LogStream(stdout, lease, farm);
        this.#sayStarted(key, lease);
      },
    });
    if (finished !== undefined) {
      const isOurs = finished.outcome === Outcome.INFRASTRUCTURE_ERROR;
      this.#machineFailures = isOurs ? this.#machineFailures + 1 : 0;
    }
    this.#recentMs.push(performance.now() - begun);
    if (this.#recentMs.length > recentCount) this.#recentMs.shift();
    // The slot is free while the result is on its way; the lease is kept alive until it is there.
    this.#reporting.set(key, { lease, log });
    this.#running.delete(key);
    this.#begin();
    this.#changes.tell();
    try {
      if (finished) await this.#report(finished, log);
    } catch (reason) {
      // No message can hold it: without a report the lease runs out by itself.
      logger.error({ lease: key, reason: messageOf(reason) }, "a result is lost");
    } finally {
      log?.close();
      this.#reporting.delete(key);
      this.#changes.tell();
    }
  }

  async #report(finished: Finished, log?: LogStream): Promise<void> {
    const { reporter, patience } = this.#parts;
    await reporter.keep(finished);
    await log?.end(patience.ms);
    await reporter.deliver(finished);
  }

  #sayStarted(key: string, lease: Lease): void {
    const request = create(StartedRequestSchema, { lease, at: timestampNow() });
    const { farm, patience } = this.#parts;
    patience
      .persistently(() => farm.started(request))
      .then(
        ({ accepted }) => {
          if (!accepted) this.#running.get(key)?.stop.abort("lost");
        },
        // Only the page's clock is the poorer for it; a lost lease shows at the next heartbeat.
        () => {},
      );
  }

  #leases(): Lease[] {
    const begun = [...this.#running.values(), ...this.#reporting.values()];
    return [...begun.map(({ lease }) => lease), ...this.#claimed.leases()];
  }

  #end(lease: Lease, reason: StopReason): void {
    const key = leaseKey(lease);
    this.#running.get(key)?.stop.abort(reason);
    const unbegun = this.#claimed.takeByKey(key);
    if (!unbegun || reason !== "cancelled") return;
    const finished = finishedWithoutProcess(unbegun, undefined, true);
    // Without a report the lease runs out by itself.
    this.#report(finished).catch(() => {});
  }

  /** What was claimed ahead, when short executions were expected, must not wait behind a long one. */
  async #handBackLoop(): Promise<void> {
    while (!this.#draining.signal.aborted) {
      await rest(mostAheadMs / 2, this.#draining.signal);
      const handedBack = await this.#handBackOlderThan(performance.now() - mostAheadMs);
      if (handedBack > 0) this.#recentMs.length = 0;
    }
  }

  async #handBackOlderThan(timeMs: number): Promise<number> {
    const leases = this.#claimed.takeOlderThan(timeMs);
    await this.#handBack(leases);
    return leases.length;
  }

  async #handBack(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return;
    const request = create(ReleaseRequestSchema, { leases: [...leases] });
    // If it fails, the leases run out by themselves.
    await this.#parts.farm.release(request).catch(() => {});
  }
}
