import { expect, test } from "vitest";
import { needs } from "../support/needs/needs.ts";
import { networkNamespaceNeeds } from "../support/network-namespace.ts";
import { cutNetwork } from "./cut-network.ts";

/**
 * Longer than every default lease, with its heartbeats and its grace period: a worker with a default lease loses its
 * job.
 */
const cutSeconds = 20;

test(
  "a network failure that is longer than a default lease has no effect on a worker with a longer lease",
  needs(...networkNamespaceNeeds()),
  async () => {
    const { through, within } = await cutNetwork(cutSeconds);

    const unharmed = {
      attempts: 1,
      runs: 1,
      missing: 0,
      doubled: 0,
      inOrder: true,
      outcome: "succeeded",
    };
    expect(through).toEqual({ ...unharmed, lines: 250 });
    expect(within).toEqual({ ...unharmed, lines: 100 });
  },
);
