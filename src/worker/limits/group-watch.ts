import { HeldPeak, type MemorySample } from "./held-peak.ts";

/** The first looks come soon, for what is soon over. */
const firstMs = 20;
const mostMs = 200;

/**
 * Looks at a control group now and then, while the kernel does the limiting: at how much of its memory is
 * cache, and whether one of its processes was ended for want of memory.
 *
 * A tree that lost a process so may wait for it for ever, so all of it is ended.
 */
export class GroupWatch {
  readonly #parts: GroupParts;
  readonly #peak = new HeldPeak();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: GroupParts) {
    this.#parts = parts;
  }

  begin(): void {
    this.#lookIn(firstMs);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  /** @param kernelPeak 0 where the kernel keeps none. */
  peakBytes(kernelPeak: number): number {
    this.#peak.see(this.#parts.sample());
    return this.#peak.of(kernelPeak);
  }

  #lookIn(delayMs: number): void {
    this.#timer = setTimeout(() => {
      this.#peak.see(this.#parts.sample());
      if (this.#parts.kills() > 0) void this.#parts.kill().catch(() => {});
      else this.#lookIn(Math.min(mostMs, delayMs * 2));
    }, delayMs);
    this.#timer.unref();
  }
}

interface GroupParts {
  readonly sample: () => MemorySample;
  /** Processes that the kernel ended for want of memory. */
  readonly kills: () => number;
  readonly kill: () => Promise<void>;
}
