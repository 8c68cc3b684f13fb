import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import type { ClaimedBenchmarkJob, CollectorWelcome, EnvironmentFacts } from "#api/collector.ts";
import { Component } from "#artifacts/component.ts";
import { backoffMs, machineRestMs } from "#core/backoff.ts";
import { canonicalJson } from "#core/canonical-json.ts";
import { messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import type { Service } from "#core/service.ts";
import type { CollectorParts } from "./collector-parts.ts";
import { HeldJob } from "./held-job.ts";
import { refuseTarget } from "./refuse-target.ts";
import { runJob } from "./run-job.ts";
import { selfTest, selfTestRequest } from "./self-test.ts";
import { selfTestDue } from "./self-test-due.ts";
import { mayRegisterLater, standingOf } from "./standing.ts";
import { endsForUpdate } from "./update.ts";

/** The reason why a collector ended by itself. */
export interface CollectorOver {
  readonly kind: "update" | "replaced" | "refused";
  readonly why: string;
}

/** The shortest interval of requests while there is no work, in ms, because the server may answer immediately. */
const shortestIdleMs = 1_000;

/** Claims one job at a time, measures, reports, and ends for updates. */
export class Collector implements Service {
  readonly #parts: CollectorParts;
  readonly #incarnation = randomUUID();
  readonly #wanted = new AbortController();
  readonly #now = new AbortController();
  readonly #startedAt: Date;
  #registered: { readonly facts: string; readonly welcome: CollectorWelcome } | undefined;
  #because: string | null = null;
  #failures = 0;
  #loop: Promise<void> = Promise.resolve();
  #reportEnd: (over: CollectorOver) => void = () => {};
  /** Resolves when it ends without a call of `stop`. */
  readonly over = new Promise<CollectorOver>((resolve) => {
    this.#reportEnd = resolve;
  });

  constructor(parts: CollectorParts) {
    this.#parts = parts;
    this.#startedAt = parts.clock.now();
  }

  start(): void {
    this.#loop = this.#run();
  }

  /** Returns its job to the queue, after a grace period for the current test; immediately when called a second time. */
  async stop(): Promise<void> {
    if (this.#wanted.signal.aborted) this.#now.abort();
    this.#wanted.abort();
    const ended = new AbortController();
    void rest(this.#parts.config.drainMs, ended.signal).then(() => this.#now.abort());
    await this.#loop;
    ended.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#wanted;
    for (let failures = 0; !signal.aborted; ) {
      try {
        const over = await this.#turn();
        failures = 0;
        if (over) return this.#reportEnd(over);
      } catch (reason) {
        if (signal.aborted) return;
        if (!this.#registered && !mayRegisterLater(reason)) {
          return this.#reportEnd({ kind: "refused", why: messageOf(reason) });
        }
        if (standingOf(reason) === "lost") return this.#reportEnd(replacedBy(reason));
        this.#parts.contact.failed(reason, "the server gives no work");
        await rest(backoffMs(++failures, Math.random()), signal);
      }
    }
  }

  /** Runs one job, or requests one once. */
  async #turn(): Promise<CollectorOver | undefined> {
    const { lab, config, contact, spool, clock } = this.#parts;
    const welcome = await this.#registerOnce();
    const requestedAtMs = performance.now();
    const {
      job,
      because,
      serverVersion,
      selfTestDue: isDue,
    } = await lab.claim(
      { incarnation: this.#incarnation, waitMs: config.claimWaitMs },
      this.#wanted.signal,
    );
    contact.answered();
    if (await this.#isToUpdate(job, serverVersion)) {
      if (job) await this.#handBack(job, welcome);
      return { kind: "update", why: `the server is of version ${serverVersion}` };
    }
    if (job) {
      await this.#do(job, welcome);
      return undefined;
    }
    if (because !== this.#because) this.#parts.logger.info({ because }, "waits for work");
    this.#because = because;
    await spool.dropOld(clock.now().getTime());
    if (this.#isSelfTestDue(isDue)) await this.#testItself(welcome);
    const requestedMs = performance.now() - requestedAtMs;
    await rest(
      Math.max(0, Math.min(shortestIdleMs, config.claimWaitMs) - requestedMs),
      this.#wanted.signal,
    );
    return undefined;
  }

  /** Registers, and registers again when the machine has changed, because figures belong to a fingerprint. */
  async #registerOnce(): Promise<CollectorWelcome> {
    const environment = await this.#parts.bench.facts();
    const facts = canonicalJson(environment);
    if (this.#registered?.facts === facts) return this.#registered.welcome;
    if (this.#registered) this.#parts.logger.warn({ environment }, "the machine has changed");
    return this.#register(environment);
  }

  async #register(environment: EnvironmentFacts): Promise<CollectorWelcome> {
    const { lab, config, logger } = this.#parts;
    const welcome = await lab.hello(
      { incarnation: this.#incarnation, version: config.version, environment },
      this.#wanted.signal,
    );
    refuseTarget(config, welcome);
    if (!this.#registered) {
      const { fingerprint, serverVersion } = welcome;
      logger.info(
        { name: config.name, fingerprint, serverVersion },
        "the server knows the collector",
      );
    }
    this.#registered = { facts: canonicalJson(environment), welcome };
    return welcome;
  }

  async #isToUpdate(job: ClaimedBenchmarkJob | null, serverVersion: string): Promise<boolean> {
    const { config, memory, clock, logger } = this.#parts;
    const nowMs = clock.now().getTime();
    const isTo = endsForUpdate({
      own: config.version,
      server: serverVersion,
      current: memory.now.requestId,
      next: job?.requestId,
      tried: memory.now.updateTried,
      nowMs,
    });
    if (!isTo) return false;
    logger.info({ own: config.version, server: serverVersion }, "ends for an update");
    await memory.keep({ updateTried: { from: config.version, to: serverVersion, atMs: nowMs } });
    return true;
  }

  /** If this call does not reach the server, the lease expires, and the attempt counts. */
  async #handBack(job: ClaimedBenchmarkJob, welcome: CollectorWelcome): Promise<void> {
    const held = this.#hold(job, welcome);
    const end = { outcome: "handed-back", why: "the collector ends for an update" } as const;
    for (let failures = 1; !held.gone && !this.#wanted.signal.aborted; failures++) {
      try {
        await this.#parts.lab.end(job.id, { holder: held.holder, end }, this.#wanted.signal);
        break;
      } catch (reason) {
        if (standingOf(reason) !== "away") break;
        await rest(backoffMs(failures, Math.random()), this.#wanted.signal);
      }
    }
    await held.over();
  }

  async #do(job: ClaimedBenchmarkJob, welcome: CollectorWelcome): Promise<void> {
    const { logger, memory } = this.#parts;
    const { id, purpose, attempt, requestId } = job;
    this.#because = null;
    logger.info({ job: id, purpose, attempt, artifact: job.artifact.tag }, "has a job");
    const held = this.#hold(job, welcome);
    const ending = { wanted: this.#wanted.signal, now: this.#now.signal };
    try {
      if (memory.now.requestId !== requestId) await memory.keep({ requestId });
      const outcome = await runJob(this.#parts, job, held, welcome.fingerprint, ending);
      logger.info({ job: id, outcome: outcome ?? held.gone ?? "unknown" }, "is done with a job");
      if (outcome === "success") await this.#rememberMeasured(job);
      // A machine that fails gets time to recover; otherwise all attempts would be used up at once.
      this.#failures = outcome === "transient" ? this.#failures + 1 : 0;
    } finally {
      await held.over();
    }
    if (this.#failures > 0) await rest(machineRestMs(this.#failures, Math.random()), ending.wanted);
  }

  #hold({ id, epoch }: ClaimedBenchmarkJob, { heartbeatMs }: CollectorWelcome): HeldJob {
    const { lab, config, contact } = this.#parts;
    const holder = { collector: config.name, incarnation: this.#incarnation, epoch };
    return new HeldJob(id, holder, lab, contact, heartbeatMs);
  }

  async #rememberMeasured({ definition, artifact, cases }: ClaimedBenchmarkJob): Promise<void> {
    if (cases.length === 0) return;
    const { component } = artifact;
    const measured = { definition, component, cases: cases.map((each) => each.case) };
    if (Component.safeParse(component).success) await this.#parts.memory.keep({ measured });
  }

  #isSelfTestDue(isDue: boolean): boolean {
    const { config, memory, clock } = this.#parts;
    const { measured, selfTestAtMs } = memory.now;
    if (measured === undefined) return false;
    return selfTestDue({
      isWanted: existsSync(selfTestRequest(config.dataDir)),
      isDue: isDue && config.selfTest,
      atMinutes: config.selfTestAt,
      triedAt: selfTestAtMs === undefined ? undefined : new Date(selfTestAtMs),
      startedAt: this.#startedAt,
      now: clock.now(),
    });
  }

  /** Meanwhile it contacts the server regularly; otherwise the server would consider it offline. */
  async #testItself(welcome: CollectorWelcome): Promise<void> {
    const { bench, contact } = this.#parts;
    const over = new AbortController();
    const heartbeats = (async () => {
      for (;;) {
        await rest(welcome.heartbeatMs, over.signal);
        if (over.signal.aborted) return;
        await bench
          .facts()
          .then((facts) => this.#register(facts))
          .catch((reason: unknown) =>
            contact.failed(reason, "the registration did not reach the server"),
          );
      }
    })();
    try {
      await selfTest(this.#parts, this.#incarnation, this.#wanted.signal);
    } finally {
      over.abort();
      await heartbeats;
    }
  }
}

function replacedBy(reason: unknown): CollectorOver {
  const why = `another process speaks for this collector, or it was removed: ${messageOf(reason)}`;
  return { kind: "replaced", why };
}
