import { expect, test } from "vitest";
import { faultyDiskNeeds } from "../support/faulty-disk.ts";
import { needs } from "../support/needs/needs.ts";
import { breakDisks, diskFaults } from "./disk-faults.ts";

/** A new one for each run: a failure prints it. */
const seed = Math.floor(Math.random() * 2 ** 31);

test.concurrent.each(["full", "read-only", "EIO", "no file handles"] as const)(
  `after the fault "%s" in each place, a farm continues by itself and its cache is correct (seed ${seed})`,
  needs(...faultyDiskNeeds()),
  async (kind) => {
    const faults = diskFaults.filter((fault) => fault.kind === kind);

    const { violations, recoveries } = await breakDisks({ faults, seed });

    expect(violations).toEqual([]);
    expect(recoveries).toHaveLength(faults.length);
  },
);
