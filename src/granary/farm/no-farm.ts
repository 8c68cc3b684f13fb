import { Fault } from "#core/fault.ts";
import type { GranaryFarm } from "./granary-farm.ts";

/** A farm for a granary without one: nothing exists, and nothing can be stored. */
export function noFarm(): GranaryFarm {
  const refused = async (): Promise<never> => {
    throw new Fault("failed_precondition", "this granary is not connected to a farm");
  };
  return {
    isAway: () => false,
    line: () => undefined,
    resolve: async () => ({ indexes: [], mayHave: () => false }),
    lookUp: async () => [],
    lookUpWithBlobs: async () => undefined,
    async *fetch(_project, requests) {
      for (const request of requests) yield { kind: "absent", request };
    },
    blobs: () => ({
      get: async () => undefined,
      read: async () => undefined,
      put: refused,
      write: refused,
      findMissing: async (digests) => [...digests],
    }),
    publishResults: refused,
    publishIndex: refused,
    reportBuild: refused,
    reportDivergence: async () => {},
    stop: async () => {},
  };
}
