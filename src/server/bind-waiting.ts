import { GraphId } from "#graphs/graph-id.ts";
import { jobWaiting } from "#graphs/times/job-waiting.ts";
import { declaredOffers } from "#size-classes/declared-classes.ts";
import type { WaitingFarm } from "./http/waiting-farm.ts";
import type { Services } from "./services.ts";

export function bindWaiting({
  db,
  queue,
  clock,
}: Pick<Services, "db" | "queue" | "clock">): WaitingFarm {
  return {
    jobWaiting: async (id, name) =>
      jobWaiting(db, GraphId.parse(id), name, clock.now(), queue.times, await declaredOffers(db)),
  };
}
