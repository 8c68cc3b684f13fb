import { OperationId } from "./operation.ts";

/** Waits for changes of an operation. */
interface Listening {
  /** Aborted when the operation is cancelled. */
  readonly cancelled: AbortSignal;
  leave(): void;
}

/** The operations with a listener at this server. */
interface WatchedOperations {
  listen(id: OperationId): Listening;
  has(id: OperationId): boolean;
  ids(): OperationId[];
  cancelled(ids: Iterable<OperationId>): void;
}

export function watchedOperations(): WatchedOperations {
  const watched = new Map<OperationId, Set<AbortController>>();
  return {
    listen(id) {
      const controller = new AbortController();
      const here = watched.get(id) ?? new Set();
      watched.set(id, here.add(controller));
      return {
        cancelled: controller.signal,
        leave() {
          here.delete(controller);
          if (here.size === 0 && watched.get(id) === here) watched.delete(id);
        },
      };
    },
    has: (id) => watched.has(id),
    ids: () => [...watched.keys()],
    cancelled(ids) {
      for (const id of ids) for (const controller of watched.get(id) ?? []) controller.abort();
    },
  };
}

/** Returns the operations that a notification names. */
export function operationsIn(payload: string): OperationId[] {
  return payload.split(",").flatMap((text) => OperationId.safeParse(text).data ?? []);
}
