import { HeldPeak, type MemorySample } from "./held-peak.ts";

/** The first looks come early, for short actions. */
const firstMs = 20;
const mostMs = 200;

/**
 * Looks at a control group now and then, while the kernel enforces the limits: at how much of its memory is cache, and
 * whether one of its processes was killed for lack of memory.
 *
 * The rest of the tree may then wait for that process forever, so all of it is ended.
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
