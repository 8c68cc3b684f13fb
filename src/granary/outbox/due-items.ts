import type { SpoolFile } from "./spool.ts";

/** The files that must be sent although a build holds the outbox. */
interface DueItems {
  /** Must be called when something was added. */
  added(): void;
  /** Makes everything that is present now due. */
  now(): void;
  /** Returns whether some due files still exist. */
  isDue(): boolean;
  stop(): void;
}

/**
 * Files that have waited for this time are due, and all that arrived in the meantime are sent with them. Files that
 * arrive after that wait for their own time, so that a long build sends in batches.
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
