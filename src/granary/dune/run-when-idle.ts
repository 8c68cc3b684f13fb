import { takingTurns } from "#scheduling/take-turns.ts";

/** Runs queued work one after the other, as soon as no new work arrives. */
export interface IdleRunner {
  /** `work` never throws. */
  put(work: () => Promise<void>): void;
  /** The number of unfinished items. */
  readonly undone: number;
  /** Begins with the pending work; resolves when none is left. */
  now(): Promise<void>;
}

/** This time without new work counts as idle. */
const idleMs = 150;
/** When this many items are queued, they run at once; an item takes about a kilobyte. */
const mostWaiting = 5_000;

/** Runs work when nothing new has arrived for a while. Until then, the process stays free for its busy caller. */
export function runWhenIdle(most = mostWaiting): IdleRunner {
  const turn = takingTurns();
  let waiting: (() => Promise<void>)[] = [];
  let queue: Promise<void> = Promise.resolve();
  let undone = 0;
  let timer: NodeJS.Timeout | undefined;

  async function carryOut(work: () => Promise<void>): Promise<void> {
    await work();
    undone -= 1;
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
      else if (timer === undefined) timer = setTimeout(begin, idleMs).unref();
      else timer.refresh();
    },
    async now() {
      begin();
      await queue;
    },
  };
}
