import { expect, test } from "vitest";
import { faultyDiskNeeds } from "../support/faulty-disk.ts";
import { needs } from "../support/needs/needs.ts";
import { breakDisks, diskFaults } from "./disk-faults.ts";

/** A new one for each run: a failure prints it. */
const seed = Math.floor(Math.random() * 2 ** 31);

test.concurrent.each(["full", "read-only", "EIO", "no file handles"] as const)(
  `after the fault "%s" in half of the places, a farm continues by itself and its cache is correct (seed ${seed})`,
  needs(...faultyDiskNeeds()),
  async (kind) => {
    // `npm run show -- recovery` takes all places.
    const places = diskFaults.filter((fault) => fault.kind === kind);
    const faults = places.filter((_, n) => n % 2 === seed % 2);

    const { violations, recoveries } = await breakDisks({ faults, seed });

    expect(violations).toEqual([]);
    expect(recoveries).toHaveLength(faults.length);
  },
);
