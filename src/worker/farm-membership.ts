import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { backoffMs } from "#core/backoff.ts";
import { Fault } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import {
  CancellationsRequestSchema,
  HeartbeatRequestSchema,
  type Lease,
} from "#proto/grange/worker/v1/worker_pb.ts";
import type { AgentParts } from "./agent-parts.ts";
import type { FarmContact } from "./farm-contact.ts";
import { isHeartbeatDue, isSame, type LastHeartbeat } from "./heartbeat-due.ts";
import { registerWorker } from "./register-worker.ts";
import { isPassing } from "./retry-window.ts";

/** The farm is reachable, but rejects this worker: its name, its token or its rights are wrong. */
const refusals: ReadonlySet<string> = new Set([
  "already_exists",
  "permission_denied",
  "unauthenticated",
]);

/**
 * A heartbeat that takes longer may be lost. If another answer arrives before the heartbeat's own, that answer may be
 * from before a disconnection.
 */
const slowHeartbeatMs = 1_000;

/** How long one call waits for cancellations: about once a minute for a worker that has work. */
const cancellationsWaitMs = 55_000;

/** The state that a heartbeat reports, and the receivers of the answer. */
interface Holder {
  /** All leases of the worker at this moment. */
  leases(): Lease[];
  isDraining(): boolean;
  /** Why the worker can run nothing at present; undefined while it can run actions. */
  trouble(): string | undefined;
  /** Resolves when the set of leases may have changed. */
  changed(): Promise<void>;
  ended(lease: Lease, reason: "lost" | "cancelled"): void;
}

type MembershipParts = Pick<
  AgentParts,
  "farm" | "identity" | "config" | "facilities" | "retryWindow" | "images"
>;

/** Registers a worker with the farm and extends its leases. */
export class FarmMembership {
  readonly #parts: MembershipParts;
  readonly #contact: FarmContact;
  readonly #holder: Holder;
  #heartbeatMs = 0;
  /** Whether heartbeats fail to reach the farm. */
  #isAway = false;
  /** When the current heartbeat was sent, by `performance.now()`; undefined while none is. */
  #beatSentAt: number | undefined;
  readonly #heard = new Set<() => void>();

  constructor(parts: MembershipParts, contact: FarmContact, holder: Holder) {
    this.#parts = parts;
    this.#contact = contact;
    this.#holder = holder;
  }

  /** False when the farm cannot be reached, or has another worker of this name. */
  async register(): Promise<boolean> {
    try {
      const images = await this.#parts.images();
      const { heartbeatMs, leaseMs } = await registerWorker(this.#parts, images);
      this.#heartbeatMs = heartbeatMs;
      this.#parts.retryWindow.outlast(leaseMs);
      this.#contact.answered();
      return true;
    } catch (reason) {
      const isRefused = reason instanceof Fault && refusals.has(reason.code);
      const what = isRefused ? "the farm refuses this worker" : "the farm cannot be reached";
      this.#contact.failed(reason, what);
      return false;
    }
  }

  /**
   * Waits for cancellations at the farm while the worker has leases. It signals their processes to end, and then
   * confirms the cancellations, because the canceller waits for that. Heartbeats also report them later.
   */
  async cancellations(over: AbortSignal): Promise<void> {
    const { farm, identity } = this.#parts;
    const wait = durationFromMs(cancellationsWaitMs);
    let confirmed: Lease[] = [];
    let failures = 0;
    while (!over.aborted) {
      if (confirmed.length === 0 && this.#holder.leases().length === 0) {
        await this.#holder.changed();
        continue;
      }
      try {
        const request = create(CancellationsRequestSchema, { ...identity, confirmed, wait });
        const { leases } = await farm.cancellations(request, over);
        for (const lease of leases) this.#holder.ended(lease, "cancelled");
        confirmed = leases;
        failures = 0;
      } catch (reason) {
        // An older farm reports them with heartbeats only.
        if (reason instanceof Fault && reason.code === "unimplemented") return;
        // Heartbeats log that the farm is unreachable.
        await rest(backoffMs(++failures, Math.random()), over);
      }
    }
  }

  /**
   * Resolves when the farm has received all leases of the worker, if it was unreachable in between.
   *
   * Leases may have been lost meanwhile. A heartbeat gets them back, unless another worker has the executions. A claim
   * before that heartbeat could give this worker the same executions again.
   */
  async untilHeard(signal: AbortSignal): Promise<void> {
    while (this.#mayBeAway() && this.#holder.leases().length > 0 && !signal.aborted) {
      let hear = () => {};
      const heard = new Promise<void>((resolve) => (hear = resolve));
      this.#heard.add(hear);
      await Promise.race([heard, this.#holder.changed()]);
      this.#heard.delete(hear);
    }
  }

  #mayBeAway(): boolean {
    const sentAt = this.#beatSentAt;
    return this.#isAway || (sentAt !== undefined && performance.now() - sentAt > slowHeartbeatMs);
  }

  /** Records that a call failed as if the farm were unreachable: the next heartbeat checks it. */
  failed(reason: unknown): void {
    if (isPassing(reason)) this.#setAway(true);
  }

  #setAway(isAway: boolean): void {
    this.#isAway = isAway;
    this.#parts.retryWindow.farmIsAway(isAway);
    if (!isAway) for (const hear of this.#heard) hear();
  }

  /** Sends heartbeats until the end, with the interval that the farm requested at registration. */
  async heartbeats(over: AbortSignal): Promise<void> {
    const { farm, identity } = this.#parts;
    let last: LastHeartbeat | undefined;
    for (;;) {
      await rest(this.#heartbeatMs, over);
      if (over.aborted) return;
      const leases = this.#holder.leases();
      const draining = this.#holder.isDraining();
      const trouble = this.#holder.trouble() ?? "";
      const images = await this.#parts.images();
      last = last && { ...last, intervalsAgo: last.intervalsAgo + 1 };
      const holder = { leaseCount: leases.length, isDraining: draining, trouble, images };
      if (!isHeartbeatDue(holder, last)) continue;
      const isNews = last === undefined || !isSame(images, last.images);
      this.#beatSentAt = performance.now();
      try {
        const answer = await farm.heartbeat(
          create(HeartbeatRequestSchema, {
            ...identity,
            leases,
            draining,
            trouble,
            ...(isNews ? { images: { keys: [...images] } } : {}),
          }),
        );
        this.#beatSentAt = undefined;
        last = {
          wasDraining: draining,
          trouble,
          images,
          namedLost: answer.lost.length > 0,
          intervalsAgo: 0,
        };
        this.#contact.answered();
        this.#setAway(false);
        for (const lease of answer.lost) this.#holder.ended(lease, "lost");
        for (const lease of answer.cancelled) this.#holder.ended(lease, "cancelled");
        if (answer.unknownWorker) await this.register();
      } catch (reason) {
        this.#beatSentAt = undefined;
        last = undefined;
        this.#setAway(isPassing(reason));
        this.#contact.failed(reason, "the heartbeats of this worker do not reach the farm");
      }
    }
  }
}
