import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";

/** Notifies followers of changes; they read the changes themselves. */
export interface ChangeFeed extends Service {
  /**
   * Waits for the next change of a topic after this call, or until the time is over.
   *
   * A caller reads first and waits later, and a change may happen in between. So the caller takes a ticket before it
   * reads, and passes the ticket when it waits.
   */
  ticket(topic: string): Ticket;
}

export interface Ticket {
  /**
   * Resolves at once when the topic changed since the ticket was taken. Returns whether the caller must read again: not
   * when the time is over without a change.
   */
  changed(withinMs: number, signal: AbortSignal): Promise<boolean>;
  drop(): void;
}

/**
 * Follows NOTIFY channels whose payloads are topics, separated by commas; a follower of the empty topic gets every
 * change.
 *
 * After a lost connection every follower is woken, because notifications may have been missed.
 */
export async function changeFeed(db: Db, ...channels: readonly string[]): Promise<ChangeFeed> {
  const waiting = new Map<string, Set<() => void>>();
  const wake = (topic: string) => {
    for (const ring of waiting.get(topic) ?? []) ring();
  };
  const hear = (payload: string) => {
    if (payload === "") for (const each of waiting.keys()) wake(each);
    else for (const topic of [...payload.split(","), ""]) wake(topic);
  };
  const listeners = await Promise.all(channels.map((channel) => db.listen(channel, hear)));

  return {
    ticket(topic) {
      let hasChanged = false;
      let resolve = () => {};
      const ring = () => {
        hasChanged = true;
        resolve();
      };
      const rings = waiting.get(topic) ?? new Set();
      waiting.set(topic, rings.add(ring));
      return {
        async changed(withinMs, signal) {
          if (!hasChanged && !signal.aborted) {
            await new Promise<void>((done) => {
              const timer = setTimeout(done, withinMs);
              resolve = () => {
                clearTimeout(timer);
                done();
              };
              signal.addEventListener("abort", resolve, { once: true });
            });
            signal.removeEventListener("abort", resolve);
          }
          const isToReadAgain = hasChanged;
          hasChanged = false;
          return isToReadAgain;
        },
        drop() {
          rings.delete(ring);
          if (rings.size === 0) waiting.delete(topic);
        },
      };
    },
    async stop() {
      await Promise.all(listeners.map((listener) => listener.stop()));
    },
  };
}
