/** Who fetches ahead waits here while a build waits for the farm by itself. */
export interface RightOfWay {
  /** Nobody passes until this is called; a second call does nothing. */
  take(): () => void;
  /** Resolves when nobody has it. */
  free(): Promise<void>;
  readonly isFree: boolean;
}

export function rightOfWay(): RightOfWay {
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
