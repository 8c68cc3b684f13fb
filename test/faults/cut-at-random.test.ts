import { expect, test } from "vitest";
import { needs } from "../support/needs/needs.ts";
import { networkNamespaceNeeds } from "../support/network-namespace.ts";
import { cutAtRandom } from "./cut-at-random.ts";

/** A new one for each run: a failure prints it. */
const seed = Math.floor(Math.random() * 2 ** 31);

test(
  `when workers are cut off one way, both ways and again and again, clients see each promise fulfilled (seed ${seed})`,
  needs(...networkNamespaceNeeds()),
  async () => {
    const { violations, progressMs } = await cutAtRandom({ cuts: 3, graphsEach: 2, seed });

    expect(violations).toEqual([]);
    expect(progressMs).toHaveLength(3);
  },
);
