import { expect, test } from "vitest";
import { linux } from "../support/needs/machine-needs.ts";
import { needs } from "../support/needs/needs.ts";
import { stopAtRandom } from "./stop-at-random.ts";

/** A new one for each run: a failure prints it. */
const seed = Math.floor(Math.random() * 2 ** 31);

test(
  `when server, worker and PostgreSQL are suspended for longer than a lease, clients see each promise fulfilled (seed ${seed})`,
  needs(linux),
  async () => {
    const { violations } = await stopAtRandom({ stops: 2, graphsEach: 2, seed });

    expect(violations).toEqual([]);
  },
);
