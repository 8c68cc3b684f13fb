import type { Measurement } from "../row.ts";
import { eventRows } from "./events/event-rows.ts";
import { liveThrough, type Plan } from "./events/live-through.ts";

/** With one seed, the same people perform the same actions in the same order, and the server dies in the same turns. */
const plan: Plan = {
  events: 2_000,
  kills: 20,
  seed: 8,
  everyMs: 75,
  waitLimitMs: 300_000,
};

export const twoThousandEvents: Measurement = {
  title: "2,000 events at a forge that fails, and a server that dies",
  long: false,
  measure: () => liveThrough(plan, (lived) => eventRows(lived, plan)),
};
