import { expect, test } from "vitest";
import { needs } from "../support/needs/needs.ts";
import { networkNamespaceNeeds } from "../support/network-namespace.ts";
import { cutNetwork } from "./cut-network.ts";

/** Longer than everybody's lease, with its beats and its grace: a worker with a usual one is given up in it. */
const cutSeconds = 20;

test(
  "a cable that is out for longer than a usual lease costs a worker with a long one nothing",
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
