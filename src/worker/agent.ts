import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { backoffMs, machineRestMs } from "#core/backoff.ts";
import { rest } from "#core/resting.ts";
import type { Service } from "#core/service.ts";
import { holderOf } from "#machine/holder-lock.ts";
import {
  ClaimRequestSchema,
  type Lease,
  ReleaseRequestSchema,
  type Work,
} from "#proto/grange/worker/v1/worker_pb.ts";
import type { AgentParts } from "./agent-parts.ts";
import { Changes } from "./changes.ts";
import { claimSize } from "./claim-size.ts";
import { ClaimedWork } from "./claimed-work.ts";
import { whyNoRoom } from "./disk-room.ts";
import { ExecutionsUnderWay } from "./executions-under-way.ts";
import { FarmContact } from "./farm-contact.ts";
import { FarmMembership } from "./farm-membership.ts";
import { finishedWithoutProcess } from "./finished-message.ts";
import { lookAheadWhileBusy } from "./look-ahead.ts";
import type { StopReason } from "./run-process.ts";
import { leaseKey } from "./spool.ts";

/** How long one claim waits for work on the server's side. */
const claimWaitMs = 20_000;

/** Executions that were claimed ahead are returned when no slot becomes free for this time. */
const mostAheadMs = 500;

/** How often the worker checks whether a collector of this machine measures. */
const lookAtMeasuringMs = 500;

/** How often the worker tries a full disk again, after the pause of a machine that failed. */
const lookForRoomMs = 1_000;

/** The time for sending results when the worker stops. */
const lastWordsMs = 1_000;

/** Why an agent stopped claiming by itself: it has delivered its one execution, or its data directory was replaced. */
export type AgentEnd = "delivered" | "replaced";

/** Claims executions, runs as many as there are slots, keeps their leases alive, and reports. */
export class Agent implements Service {
  readonly #parts: AgentParts;
  readonly #contact: FarmContact;
  readonly #membership: FarmMembership;
  readonly #underWay: ExecutionsUnderWay;
  readonly #claimed = new ClaimedWork();
  readonly #draining = new AbortController();
  readonly #over = new AbortController();
  readonly #loops: Promise<void>[] = [];
  /** Reports the ends of executions and reports, and requests to stop. */
  readonly #changes = new Changes();
  #stopping: Promise<void> | undefined;
  #yields = false;
  /** Whether a worker for one execution has claimed it. */
  #hasTheOne = false;
  #tellOver: (why: AgentEnd) => void = () => {};
  /** Resolves when the agent claims nothing more by itself. Never for most agents. */
  readonly over = new Promise<AgentEnd>((resolve) => {
    this.#tellOver = resolve;
  });

  constructor(parts: AgentParts) {
    this.#parts = parts;
    this.#contact = new FarmContact(parts.logger);
    this.#underWay = new ExecutionsUnderWay(parts, this.#changes, () => this.#begin());
    this.#membership = new FarmMembership(parts, this.#contact, {
      leases: () => [...this.#underWay.leases(), ...this.#claimed.leases()],
      isDraining: () => this.#draining.signal.aborted || this.#hasTheOne,
      trouble: () => this.#underWay.noRoom,
      changed: () => this.#changes.next(),
      ended: (lease, reason) => this.#end(lease, reason),
    });
  }

  start(): void {
    this.#loops.push(this.#claimLoop(), this.#handBackLoop());
  }

  /**
   * Stops claiming, gives running executions some time to end, and then returns the rest to the farm. A second call
   * does not wait.
   */
  stop(): Promise<void> {
    if (this.#stopping) this.#stopAll();
    this.#stopping ??= this.#drain();
    return this.#stopping;
  }

  /** Stops, and returns running executions at once: their files are of no use any more. */
  async stopNow(): Promise<void> {
    this.#draining.abort();
    await this.#handBack(this.#stopAll());
    await this.stop();
  }

  async #drain(): Promise<void> {
    const { config, executor } = this.#parts;
    this.#draining.abort();
    this.#changes.tell();
    await this.#handBackOlderThan(Infinity);
    const deadline = new AbortController();
    const retryWindow = rest(config.drainMs, deadline.signal).then(() =>
      this.#handBack(this.#stopAll()),
    );
    while (this.#underWay.running > 0) await this.#changes.next();
    deadline.abort();
    await retryWindow;
    this.#parts.retryWindow.end();
    await this.#lastWords();
    this.#over.abort();
    await Promise.all(this.#loops);
    await executor.cleared();
  }

  /** Allows a short time for delivering results; after it they are stored for the next process. */
  async #lastWords(): Promise<void> {
    const enough = new AbortController();
    const retryWindow = rest(lastWordsMs, enough.signal).then(() => {
      this.#underWay.stopLogs();
      this.#parts.reporter.stop();
    });
    while (this.#underWay.reporting > 0) await this.#changes.next();
    enough.abort();
    await retryWindow;
  }

  #stopAll(): Lease[] {
    this.#parts.retryWindow.end();
    return this.#underWay.stopAll("lost");
  }

  async #claimLoop(): Promise<void> {
    const { signal } = this.#draining;
    let failures = 0;
    while (!(await this.#membership.register()) && !signal.aborted) {
      await rest(backoffMs(++failures, Math.random()), signal);
    }
    // Not awaited: a last heartbeat may be in progress, and ends with the connection.
    void this.#membership.heartbeats(this.#over.signal);
    void this.#membership.cancellations(this.#over.signal);
    if (!this.#parts.config.once) this.#loops.push(this.#lookAhead());
    failures = 0;
    while (!signal.aborted && !this.#hasTheOne) {
      if (this.#parts.isReplaced()) return this.#tellOver("replaced");
      const most = this.#claimSize();
      if (most === 0) {
        await this.#changes.next();
        continue;
      }
      if (this.#isMeasuredHere()) {
        await rest(lookAtMeasuringMs, signal);
        continue;
      }
      // A machine that just failed gets time to recover; others may take the work meanwhile.
      const { machineFailures } = this.#underWay;
      if (machineFailures > 0) await rest(machineRestMs(machineFailures, Math.random()), signal);
      if (this.#underWay.noRoom !== undefined && !signal.aborted) {
        await this.#handBackOlderThan(Infinity);
        if ((await whyNoRoom(this.#parts.config.dataDir)) !== undefined) {
          await rest(lookForRoomMs, signal);
          continue;
        }
        this.#underWay.thereIsRoom();
        this.#parts.logger.info("takes work again: its disk has free space");
      }
      await this.#membership.untilHeard(signal);
      if (signal.aborted) return;
      try {
        await this.#claim(most);
        failures = 0;
      } catch (reason) {
        if (signal.aborted) return;
        failures++;
        this.#membership.failed(reason);
        this.#contact.failed(reason, "the farm gives no work");
        await rest(backoffMs(failures, Math.random()), signal);
      }
    }
    if (!this.#hasTheOne) return;
    while (this.#underWay.running + this.#underWay.reporting > 0) await this.#changes.next();
    this.#tellOver("delivered");
  }

  #lookAhead(): Promise<void> {
    const { slots } = this.#parts.config;
    const isBusy = () => this.#underWay.running >= slots && !this.#yields;
    const changed = () => this.#changes.next();
    return lookAheadWhileBusy(this.#parts, { isBusy, changed }, this.#draining.signal);
  }

  #claimSize(): number {
    const { running, recentMs } = this.#underWay;
    const { slots } = this.#parts.config;
    return claimSize({ slots, running, waiting: this.#claimed.count, recentMs });
  }

  async #claim(most: number): Promise<void> {
    const { farm, identity, config } = this.#parts;
    const { signal } = this.#draining;
    const wait = durationFromMs(claimWaitMs);
    const request = create(ClaimRequestSchema, { ...identity, most, wait });
    const { leases } = await farm.claim(request, signal);
    this.#contact.answered();
    for (const work of leases)
      if (!this.#claimed.add(work, performance.now())) this.#reportCancelled(work);
    // Measuring may have begun while the claim waited, or another disk was mounted.
    const goesBack = signal.aborted || this.#isMeasuredHere() || this.#parts.isReplaced();
    this.#hasTheOne = config.once && leases.length > 0 && !goesBack;
    if (goesBack) await this.#handBackOlderThan(Infinity);
    this.#begin();
    if (leases.length > 0) this.#changes.tell();
    // Claimed executions start before the next claim.
    if (leases.length > 0) await new Promise((resolve) => setImmediate(resolve));
  }

  /** No execution starts while a collector measures on this machine, because it would distort the measurement. */
  #isMeasuredHere(): boolean {
    const holder = holderOf(this.#parts.config.measuringLock);
    if (holder && !this.#yields)
      this.#parts.logger.info({ holder }, "takes no work: a collector measures on this machine");
    if (!holder && this.#yields) this.#parts.logger.info("takes work again");
    this.#yields = holder !== undefined;
    return this.#yields;
  }

  /** Starts claimed executions while there are free slots. */
  #begin(): void {
    const { slots } = this.#parts.config;
    while (this.#underWay.running < slots && !this.#draining.signal.aborted) {
      if (this.#underWay.noRoom !== undefined) return;
      if (this.#claimed.count > 0 && this.#isMeasuredHere()) return;
      const work = this.#claimed.take();
      if (!work) return;
      if (work.lease) void this.#underWay.run(work, work.lease);
    }
  }

  #end(lease: Lease, reason: StopReason): void {
    const key = leaseKey(lease);
    const isKnown = this.#underWay.stop(lease, reason);
    const unbegun = this.#claimed.takeByKey(key);
    if (reason !== "cancelled") return;
    if (unbegun) this.#reportCancelled(unbegun);
    // The claim that returns it may be in progress.
    else if (!isKnown) this.#claimed.refuse(key);
  }

  #reportCancelled(unbegun: Work): void {
    const finished = finishedWithoutProcess(unbegun, undefined, true);
    // Without a report the lease expires by itself.
    this.#underWay.report(finished).catch(() => {});
  }

  /**
   * Returns executions that were claimed ahead when short ones were expected, if they would now wait behind a long one.
   */
  async #handBackLoop(): Promise<void> {
    while (!this.#draining.signal.aborted) {
      if (this.#claimed.count === 0) {
        await this.#changes.next();
        continue;
      }
      await rest(mostAheadMs / 2, this.#draining.signal);
      const handedBack = await this.#handBackOlderThan(performance.now() - mostAheadMs);
      if (handedBack > 0) this.#underWay.forgetRecent();
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
    // If the call fails, the leases expire by themselves.
    await this.#parts.farm.release(request).catch(() => {});
  }
}
