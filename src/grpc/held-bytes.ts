import { setTimeout as delay } from "node:timers/promises";
import { Fault } from "#core/fault.ts";

/** The bytes of one call. */
export interface Claim {
  /**
   * Changes the number of bytes. `isInUse`: a handler uses them, so ending the call would not free them.
   *
   * @throws Fault `resource_exhausted` when this call must give its bytes up
   */
  readonly set: (bytes: number, isInUse?: boolean) => void;
}

/** Makes a call give its bytes up: it must set them to 0 before it returns. */
type GiveUp = (fault: Fault) => void;

/** The longest wait until less is held: so many checks with so many ms between them. */
const mostWaits = 100;
const waitMs = 20;
/** A connection that had to give up bytes is not read for this time, in ms: it sends more than the server may hold. */
const pauseMs = 1_000;

/**
 * The bytes that all connections hold together, shared by callers and then by the connections of each.
 *
 * When there are too many, the largest connection of the largest caller gives up its largest call. So a caller gets its
 * share, however many connections another caller has, and even if that one came first.
 */
export class SharedBytes {
  readonly most: number;
  readonly #callers = new Map<string, Map<HeldBytes, number>>();
  #now = 0;

  constructor(most: number) {
    this.most = most;
  }

  get now(): number {
    return this.#now;
  }

  change(holder: HeldBytes, bytes: number): void {
    const holders = this.#callers.get(holder.caller) ?? new Map<HeldBytes, number>();
    this.#now += bytes - (holders.get(holder) ?? 0);
    if (bytes === 0) holders.delete(holder);
    else holders.set(holder, bytes);
    if (holders.size === 0) this.#callers.delete(holder.caller);
    else this.#callers.set(holder.caller, holders);
  }

  /** Returns the largest connection of the largest caller. */
  largest(): HeldBytes | undefined {
    const callers = [...this.#callers.values()].map(
      (holders) => [holders, sumOf(holders.values())] as const,
    );
    const holders = largestOf(callers);
    return holders && largestOf(holders);
  }
}

interface HeldOptions {
  readonly most: number;
  /** What holds the bytes, for people. */
  readonly what: string;
  /** All connections together; without a limit when absent. */
  readonly shared?: SharedBytes | undefined;
  /** By whom the connection is counted. */
  readonly caller?: string;
  /** Called for each call of the connection that must give its bytes up. */
  readonly onGivenUp?: () => void;
}

/**
 * The bytes that the server holds because of one connection: unread and unfinished messages, or answers that it does
 * not read.
 *
 * Each stream alone may hold a message. A thousand streams, each with a message without its last byte, would hold
 * gigabytes; so would a thousand connections.
 */
export class HeldBytes {
  /** By whom the connection is counted. */
  readonly caller: string;
  readonly #most: number;
  readonly #what: string;
  readonly #shared: SharedBytes | undefined;
  readonly #onGivenUp: () => void;
  /** The calls that can give their bytes up. */
  readonly #idle = new Map<GiveUp, number>();
  #now = 0;
  #inUse = 0;
  #pausedUntil = 0;

  constructor({ most, what, shared, caller = "", onGivenUp = () => {} }: HeldOptions) {
    this.#most = most;
    this.#what = what;
    this.#shared = shared;
    this.#onGivenUp = onGivenUp;
    this.caller = caller;
  }

  claim(giveUp: GiveUp): Claim {
    let before = 0;
    let usedBefore = 0;
    return {
      set: (bytes, isInUse = false) => {
        const used = isInUse ? bytes : 0;
        const more = bytes - before;
        this.#inUse += used - usedBefore;
        this.#now += more;
        before = bytes;
        usedBefore = used;
        if (isInUse || bytes === 0) this.#idle.delete(giveUp);
        else this.#idle.set(giveUp, bytes);
        this.#shared?.change(this, this.#now);
        if (more > 0) this.#enforceLimits(giveUp);
      },
    };
  }

  /**
   * Waits for a moment when much is held of which handlers use the larger part, because they will free it. Bytes of
   * unfinished messages are freed by more bytes only, so nothing waits for those. After a call of the connection had to
   * give up its bytes, it waits in any case.
   */
  untilReadable(): Promise<void> | undefined {
    const restMs = this.#pausedUntil - performance.now();
    if (restMs > 0) return delay(restMs);
    return this.#isNearlyFull() ? this.#wait() : undefined;
  }

  async #wait(): Promise<void> {
    for (let n = 0; n < mostWaits && this.#isNearlyFull(); n++) await delay(waitMs);
  }

  #isNearlyFull(): boolean {
    if (this.#inUse * 2 < this.#now) return false;
    if (this.#now * 2 > this.#most) return true;
    const { most = Number.POSITIVE_INFINITY, now = 0 } = this.#shared ?? {};
    // Connections with few bytes wait for nobody.
    return now * 2 > most && this.#now * 64 > most;
  }

  #gaveUp(): void {
    this.#pausedUntil = performance.now() + pauseMs;
    this.#onGivenUp();
  }

  #enforceLimits(growing: GiveUp): void {
    if (this.#now > this.#most) {
      this.#gaveUp();
      throw new Fault("resource_exhausted", `${this.#what} hold more than ${this.#most} bytes`);
    }
    const shared = this.#shared;
    while (shared !== undefined && shared.now > shared.most) {
      const largest = shared.largest() ?? this;
      const call = largestOf(largest.#idle);
      // Handlers use what the largest connection holds. A smaller one need not wait for their end.
      if (call === undefined && largest !== this) return;
      const fault = new Fault(
        "resource_exhausted",
        `${this.#what} hold more than their share of the memory of this server; try again shortly`,
      );
      largest.#gaveUp();
      if (call === undefined || call === growing) throw fault;
      call(fault);
      // In case it did not free them.
      if (largest.#idle.has(call)) throw fault;
    }
  }
}

function sumOf(numbers: Iterable<number>): number {
  let sum = 0;
  for (const each of numbers) sum += each;
  return sum;
}

function largestOf<T>(sizes: Iterable<readonly [T, number]>): T | undefined {
  let most = 0;
  let largest: T | undefined;
  for (const [each, size] of sizes) {
    if (size <= most) continue;
    most = size;
    largest = each;
  }
  return largest;
}
