import { HeldPeak, type MemorySample } from "./held-peak.ts";

/** The first checks are early, for short actions. */
const firstMs = 20;
const mostMs = 200;

/**
 * Checks a control group periodically, while the kernel enforces the limits: how much of its memory is cache, and
 * whether one of its processes was killed for lack of memory.
 *
 * The rest of the tree may then wait for that process forever, so the whole tree is ended.
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

  /** @param kernelPeak 0 if the kernel does not record one. */
  peakBytes(kernelPeak: number, sample: MemorySample): number {
    this.#peak.see(sample);
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
  /** The number of processes that the kernel ended for lack of memory. */
  readonly kills: () => number;
  readonly kill: () => Promise<void>;
}
