import { type AfterCut, cutNetwork } from "../../../test/faults/cut-network.ts";
import { exactly, type Measurement } from "../row.ts";

/** Ten minutes: four times as long as most outages of a network, and forty usual leases. */
const cutSeconds = 600;

/**
 * Disconnects a worker for this many seconds while it runs two jobs: one that prints past the end of the cut, and one
 * that ends within it. The figures are for both: the larger number of attempts, and the sum of all others.
 */
async function measureNetworkCut(
  seconds: number,
): Promise<Pick<AfterCut, "attempts" | "lines" | "missing" | "doubled" | "outcome">> {
  const { through, within } = await cutNetwork(seconds);
  return {
    attempts: Math.max(through.attempts, within.attempts),
    lines: through.lines + within.lines,
    missing: through.missing + within.missing,
    doubled: through.doubled + within.doubled,
    outcome: through.outcome === within.outcome ? through.outcome : "not all succeeded",
  };
}

export const networkCut: Measurement = {
  title: "network cut for ten minutes",
  long: true,
  async measure() {
    const { attempts, lines, missing, doubled, outcome } = await measureNetworkCut(cutSeconds);
    const how =
      "server and worker in two network namespaces, the cable between them out for 600 s while two jobs print 10 lines a second; " +
      `the worker's leases last 20 min; ${lines} lines`;
    return [
      exactly("network cut for 10 min: outcome", outcome, "succeeded", "", how),
      exactly("network cut for 10 min: attempts", attempts, 1, "", how),
      exactly("network cut for 10 min: lines missing", missing, 0, "", how),
      exactly("network cut for 10 min: lines doubled", doubled, 0, "", how),
    ];
  },
};
