/** `released`: until the holder releases it. `due`: until something is due, if that is earlier. */
export type HeldUntil = "released" | "due";

/** A gate that is closed while at least one caller holds it. */
export interface SendGate {
  isHeld(): boolean;
  /** Returns the function to release it; releasing twice has no further effect. */
  hold(until: HeldUntil): () => void;
  /** Resolves when it is not held, or the signal is aborted. */
  opened(signal: AbortSignal): Promise<void>;
  /** Must be called when something has become due. */
  look(): void;
}

export function sendGate(isDue: () => boolean): SendGate {
  const holders = { released: 0, due: 0 };
  let waiting = new Set<() => void>();

  const isHeld = () => holders.released > 0 || (holders.due > 0 && !isDue());
  const look = () => {
    if (isHeld()) return;
    const all = waiting;
    waiting = new Set();
    for (const resolve of all) resolve();
  };

  return {
    isHeld,
    look,
    hold(until) {
      holders[until]++;
      let isHolding = true;
      return () => {
        if (!isHolding) return;
        isHolding = false;
        holders[until]--;
        look();
      };
    },
    async opened(signal) {
      while (isHeld() && !signal.aborted) {
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
