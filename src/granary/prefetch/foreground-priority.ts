/** Lets prefetching wait while a build itself waits for the farm. */
export interface ForegroundPriority {
  /** Blocks prefetching until the returned function is called. A second call of it does nothing. */
  take(): () => void;
  /** Resolves when no build waits. */
  free(): Promise<void>;
  readonly isFree: boolean;
}

export function foregroundPriority(): ForegroundPriority {
  let holders = 0;
  let waiting: (() => void)[] = [];
  return {
    take() {
      holders += 1;
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        holders -= 1;
        if (holders > 0) return;
        const all = waiting;
        waiting = [];
        for (const go of all) go();
      };
    },
    async free() {
      while (holders > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    get isFree() {
      return holders === 0;
    },
  };
}
