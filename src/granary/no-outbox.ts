import type { Outbox, OutboxState } from "./outbox/outbox.ts";

const nothing: OutboxState = { results: 0, indexes: 0, reports: 0, bytes: 0, trouble: undefined };

/** In the place of an outbox where there is no farm: what would wait for ever would only keep the store full. */
export function noOutbox(): Outbox & { isHeld(): boolean } {
  return {
    addResult: async () => {},
    addIndex: async () => {},
    addReport: async () => {},
    hold: () => () => {},
    state: () => nothing,
    drained: async () => nothing,
    sentBytes: 0,
    isHeld: () => false,
    stop: async () => {},
  };
}
