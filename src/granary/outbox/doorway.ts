/** What is held while at least one holds it. */
export interface Doorway {
  isHeld(): boolean;
  /** Answers how to let go; letting go twice is letting go once. */
  hold(): () => void;
  /** Resolves once nobody holds it, or the signal is given. */
  opened(signal: AbortSignal): Promise<void>;
}

export function doorway(): Doorway {
  let holders = 0;
  let waiting = new Set<() => void>();

  return {
    isHeld: () => holders > 0,
    hold() {
      holders++;
      let isHolding = true;
      return () => {
        if (!isHolding) return;
        isHolding = false;
        if (--holders > 0) return;
        const all = waiting;
        waiting = new Set();
        for (const resolve of all) resolve();
      };
    },
    async opened(signal) {
      while (holders > 0 && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const go = () => {
            waiting.delete(go);
            signal.removeEventListener("abort", go);
            resolve();
          };
          waiting.add(go);
          signal.addEventListener("abort", go, { once: true });
        });
      }
    },
  };
}
