import { breakDisks, diskFaults } from "../../../test/faults/disk-faults.ts";
import { faultyDiskNeeds } from "../../../test/support/faulty-disk.ts";
import { requireNeeds } from "../require-needs.ts";
import { atMost, exactly, type Measurement, type Row } from "../row.ts";
import { firstOf } from "./first-violation.ts";

export const brokenDisks: Measurement = {
  title: "disks that are full, read-only or fail; no file handles",
  long: false,
  measure: () => measure(1),
};

export const manyBrokenDisks: Measurement = {
  title: "disks that are full, read-only or fail; no file handles; 20 times each",
  long: true,
  measure: () => measure(20),
};

async function measure(times: number): Promise<Row[]> {
  requireNeeds(faultyDiskNeeds());
  const seed = Math.floor(Math.random() * 2 ** 31);
  const faults = Array.from({ length: times }, () => diskFaults).flat();
  const { violations, recoveries } = await breakDisks({ faults, seed });
  const slowest = recoveries.toSorted((one, other) => other.ms - one.ms)[0];
  const how =
    `${faults.length} faults, one after the other, each for 1.5 to 4 s under load, seed ${seed}: no space, an ext4 that has become ` +
    "read-only, and EIO, each for the store, the database, the mirrors and the worker; no file handles for server, " +
    `PostgreSQL and worker; then the same commits again${firstOf(violations)}`;
  return [
    exactly(`promises broken by ${faults.length} faults of disks`, violations.length, 0, "", how),
    atMost(
      "from the end of the fault until a new graph has succeeded, at most",
      (slowest?.ms ?? 0) / 1_000,
      60,
      "s",
      `the same run; the slowest: ${slowest?.fault}`,
    ),
  ];
}
