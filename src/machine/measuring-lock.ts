import { rest } from "#core/resting.ts";
import { type HeldLock, type Holder, takeLock } from "./holder-lock.ts";

/**
 * The lock of the machine's measuring process, for all of its users. While a process has it, other collectors wait, and
 * workers claim nothing.
 */
export const defaultMeasuringLock = "/tmp/grange-measuring.lock";

const lookEveryMs = 250;

/** The machine's lock for measuring, which one collector takes repeatedly. */
export class MeasuringLock {
  readonly #path: string;
  readonly #name: string;
  #notBefore = 0;

  constructor(path: string, name: string) {
    this.#path = path;
    this.#name = name;
  }

  /** Returns undefined when the signal is aborted first. `waits` is called once, with the present holder. */
  async take(
    signal: AbortSignal,
    waits: (holder: Holder) => void = () => {},
  ): Promise<HeldLock | undefined> {
    let isReported = false;
    // The process that measured last checks last; other waiting processes have checked several times before.
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
      isHeld: () => lock.isHeld(),
      release: async () => {
        this.#notBefore = performance.now() + 3 * lookEveryMs;
        await lock.release();
      },
    };
  }
}
