import { takingTurns } from "#cas/take-turns.ts";

/** Things to be done one after the other, once no more come. */
export interface WhenQuiet {
  put(work: () => Promise<void>): void;
  /** Not done yet. */
  readonly undone: number;
  /** Begins with what is there; resolves when nothing is left. */
  now(): Promise<void>;
}

interface QuietOptions {
  readonly quietMs: number;
  /** So many are not kept waiting. */
  readonly most: number;
  /** A thing that came to nothing keeps no other from being done. */
  readonly failed: (reason: unknown) => void;
}

/** Whoever asks for them is busy, and shall have the machine: they are begun when nothing new has come for a while. */
export function whenQuiet({ quietMs, most, failed }: QuietOptions): WhenQuiet {
  const turn = takingTurns();
  let waiting: (() => Promise<void>)[] = [];
  let queue: Promise<void> = Promise.resolve();
  let undone = 0;
  let timer: NodeJS.Timeout | undefined;

  async function carryOut(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (reason) {
      failed(reason);
    } finally {
      undone -= 1;
    }
    await turn();
  }

  function begin(): void {
    clearTimeout(timer);
    timer = undefined;
    const all = waiting;
    waiting = [];
    queue = queue.then(async () => {
      for (const work of all) await carryOut(work);
    });
  }

  return {
    get undone() {
      return undone;
    },
    put(work) {
      undone += 1;
      waiting.push(work);
      if (waiting.length >= most) begin();
      else if (timer === undefined) timer = setTimeout(begin, quietMs).unref();
      else timer.refresh();
    },
    async now() {
      begin();
      await queue;
    },
  };
}
