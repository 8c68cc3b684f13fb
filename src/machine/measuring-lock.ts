import { rest } from "#core/resting.ts";
import { type HeldLock, type Holder, takeLock } from "./holder-lock.ts";

/**
 * The lock of the machine's measuring process, for all of its users. Its holder measures: collectors take turns, and
 * workers claim nothing meanwhile.
 */
export const usualMeasuringLock = "/tmp/grange-measuring.lock";

const lookEveryMs = 250;

/** The machine's lock for measuring, as one collector takes it again and again. */
export class MeasuringLock {
  readonly #path: string;
  readonly #name: string;
  #notBefore = 0;

  constructor(path: string, name: string) {
    this.#path = path;
    this.#name = name;
  }

  /** Returns undefined when the signal is aborted first. `waits` is called once, with the holder. */
  async take(
    signal: AbortSignal,
    waits: (holder: Holder) => void = () => {},
  ): Promise<HeldLock | undefined> {
    let isReported = false;
    // Who measured last looks last: others that wait have looked several times by then.
    await rest(Math.max(0, this.#notBefore - performance.now()), signal);
    while (!signal.aborted) {
      const taken = await takeLock(this.#path, this.#name);
      if ("lock" in taken) return this.#yielding(taken.lock);
      if (!isReported) waits(taken.holder);
      isReported = true;
      await rest(lookEveryMs, signal);
    }
    return undefined;
  }

  #yielding(lock: HeldLock): HeldLock {
    return {
      lost: lock.lost,
      release: async () => {
        this.#notBefore = performance.now() + 3 * lookEveryMs;
        await lock.release();
      },
    };
  }
}
