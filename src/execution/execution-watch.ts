import { coalescer } from "#core/coalescer.ts";
import { Fault } from "#core/fault.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { ExecutionId } from "./execution.ts";
import type { FinishedExecution } from "./finishing/finished-execution.ts";
import type { ExecutionView } from "./read-executions.store.ts";

/** Follows executions from state to state. */
export interface ExecutionWatch {
  /**
   * Yields the state of the execution, again after each change, until it is finished.
   *
   * Changes that follow each other quickly may be yielded as one. Throws `not_found` when there is no such execution,
   * `cancelled` when the signal is aborted.
   *
   * `first` is a very recent state, for a caller that has just submitted it: without a change since, it is not read
   * again.
   */
  follow(
    id: ExecutionId,
    signal: AbortSignal,
    first?: ExecutionView,
  ): AsyncGenerator<ExecutionView, void>;
  waitForEnd(id: ExecutionId, signal: AbortSignal): Promise<FinishedExecution>;
  /** Must be called when executions may have changed. */
  changed(ids: Iterable<ExecutionId>): void;
  /** Reports the ends of executions, so that they need not be read. */
  ended(views: Iterable<ExecutionView>): void;
  /** Must be called when any execution may have changed, for instance because notifications were missed. */
  changedAll(): void;
}

/** Notifications between a commit and a new listener; the two are less than a turn of the event loop apart. */
const mostUnheard = 10_000;

export function executionWatch(
  read: (ids: readonly ExecutionId[]) => Promise<readonly ExecutionView[]>,
): ExecutionWatch {
  const bells = new Map<ExecutionId, Set<(end?: ExecutionView) => void>>();
  // Another server may assign an execution and report its end before this server sees its own commit.
  const unheard = recentlyUsed<true>(mostUnheard);
  // A thousand callers that wait for a thousand ends share one query.
  const reading = coalescer(async (ids: readonly ExecutionId[]) => {
    const views = new Map((await read([...new Set(ids)])).map((view) => [view.id, view]));
    return ids.map((id) => views.get(id));
  });

  const changed = (ids: Iterable<ExecutionId>) => {
    for (const id of ids) tell(id);
  };

  const tell = (id: ExecutionId, end?: ExecutionView) => {
    const listening = bells.get(id);
    if (listening === undefined) unheard.set(id, true);
    else for (const ring of listening) ring(end);
  };

  async function* follow(id: ExecutionId, signal: AbortSignal, first?: ExecutionView) {
    let ring = () => {};
    let hasRung = true;
    let end: ExecutionView | undefined;
    const bell = (reported?: ExecutionView) => {
      end ??= reported;
      hasRung = true;
      ring();
    };
    const hurry = () => bell();
    const ours = bells.get(id) ?? new Set();
    bells.set(id, ours.add(bell));
    signal.addEventListener("abort", hurry);
    try {
      let last = "";
      let known = unheard.peek(id) === undefined ? first : undefined;
      while (true) {
        if (signal.aborted) throw new Fault("cancelled", `no client waits for ${id} any more`);
        hasRung = false;
        const view: ExecutionView | undefined = end ?? known ?? (await reading.add(id));
        known = undefined;
        if (view === undefined) throw new Fault("not_found", `there is no execution ${id}`);
        const seen = fingerprint(view);
        if (seen !== last) {
          last = seen;
          yield view;
        }
        if (view.state.kind === "finished") return;
        // A change may have been reported during the read, or while the caller was busy with the view.
        if (!hasRung) await new Promise<void>((resolve) => (ring = resolve));
      }
    } finally {
      signal.removeEventListener("abort", hurry);
      ours.delete(bell);
      if (ours.size === 0 && bells.get(id) === ours) bells.delete(id);
    }
  }

  return {
    follow,
    changed,
    ended(views) {
      for (const view of views) tell(view.id, view);
    },
    changedAll: () => changed([...bells.keys()]),
    async waitForEnd(id, signal) {
      for await (const { finished } of follow(id, signal)) if (finished) return finished;
      throw new Fault("internal", `the watch of ${id} ended before it did`);
    },
  };
}

/** Returns the part of an execution's state that followers see; an extended lease is not a change. */
function fingerprint(view: ExecutionView): string {
  const { state } = view;
  switch (state.kind) {
    case "queued":
      return `queued ${view.attempt}`;
    case "leased":
      return `leased ${state.epoch} ${state.startedAt?.getTime()} ${view.cancelRequested} ${view.cancelConfirmed}`;
    case "finished":
      return "finished";
  }
}
