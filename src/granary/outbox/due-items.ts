import type { SpoolFile } from "./spool.ts";

/** Of what is held back while a build runs: what leaves all the same. */
export interface DueItems {
  /** Something was added. */
  added(): void;
  /** All that is there by now is waited for. */
  now(): void;
  /** Whether some of it is there still. */
  isDue(): boolean;
  stop(): void;
}

/**
 * What has waited for so long is due, with all that has come meanwhile; what comes later waits for a time of its own, so
 * that a long build sends by batches.
 */
export function dueItems(
  files: () => readonly Pick<SpoolFile, "path">[],
  mostWaitMs: number,
  onDue: () => void,
): DueItems {
  let due: ReadonlySet<string> = new Set();
  let timer: NodeJS.Timeout | undefined;
  const now = () => {
    due = new Set(files().map(({ path }) => path));
    if (due.size > 0) onDue();
  };
  return {
    added() {
      timer ??= setTimeout(() => {
        timer = undefined;
        now();
      }, mostWaitMs).unref();
    },
    now,
    isDue: () => due.size > 0 && files().some(({ path }) => due.has(path)),
    stop: () => clearTimeout(timer),
  };
}
