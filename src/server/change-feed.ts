import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";

/** Notifies followers of changes; they read the changes themselves. */
export interface ChangeFeed extends Service {
  /**
   * Waits for the next change of a topic after this call, or until the time is over.
   *
   * A caller looks first and waits after, and a change may come in between: so it
   * takes a ticket before it looks, and hands it in when it waits.
   */
  ticket(topic: string): Ticket;
}

export interface Ticket {
  /** Resolves at once when the topic changed since the ticket was taken. */
  changed(withinMs: number, signal: AbortSignal): Promise<void>;
  drop(): void;
}

/**
 * Follows NOTIFY channels whose payloads are topics, separated by commas; the empty topic hears everything.
 *
 * After a lost connection every follower is woken, since notifications were missed.
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
          hasChanged = false;
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
