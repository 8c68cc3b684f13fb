import type { OpenOutbox } from "./open-outbox.ts";

/** Replaces the outbox without a configured farm: nothing waits, because nothing will be sent. */
export function noOutbox(): OpenOutbox {
  const state = { results: 0, indexes: 0, reports: 0, bytes: 0, trouble: undefined };
  return {
    sentBytes: 0,
    droppedResults: 0,
    isHeld: () => false,
    addResult: async () => {},
    addIndex: async () => {},
    addReport: async () => {},
    addDivergence: async () => {},
    hold: () => () => {},
    state: () => state,
    drained: async () => state,
    stop: async () => {},
  };
}
