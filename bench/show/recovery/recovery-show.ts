import { exactly, type Measurement, type Show } from "../row.ts";
import { runTests } from "../run-tests.ts";
import { claimsOfManyWorkers } from "./claims-of-many-workers.ts";
import { durableBlobs } from "./durable-blobs.ts";
import { parallelSubmissions } from "./parallel-submissions.ts";
import { manyRandomKills, randomKills } from "./random-kills.ts";
import { longSimulation, plantedBugsFound, simulation } from "./simulation.ts";

/** Whether a farm recovers from failures, and works under load. */
export const recoveryShow: Show = {
  name: "recovery",
  measurements: [
    simulation,
    longSimulation,
    plantedBugsFound,
    randomKills,
    manyRandomKills,
    byTests("backup under load, everything destroyed, restored", "test/faults/backup.test.ts"),
    byTests(
      "two servers: on one directory, with stores of their own, on one database",
      "test/faults/shared-data-directory.test.ts",
      "test/faults/two-servers.test.ts",
      "src/server/blob-storage/claim-store.test.ts",
    ),
    byTests(
      "partitions of the network",
      "test/faults/lost-network.test.ts",
      "test/faults/network-cut.test.ts",
      "src/db/time-limits.test.ts",
    ),
    byTests("full disks", "test/faults/full-disk.test.ts"),
    byTests(
      "corrupt, truncated, swapped and missing blobs",
      "src/server/retention/start-scrub.test.ts",
      "src/cas/verifying-blob-store.test.ts",
      "src/graphs/lost-inputs.test.ts",
    ),
    claimsOfManyWorkers,
    parallelSubmissions,
    durableBlobs,
  ],
};

/** Returns a row whose figure is the number of failed tests in the files for this property. */
function byTests(title: string, ...files: readonly string[]): Measurement {
  return {
    title,
    long: false,
    async measure() {
      const results = await runTests(...files);
      const failed = results.filter(({ passed }) => !passed);
      const first =
        failed[0] === undefined ? "" : `; the first: ${failed[0].title}: ${failed[0].why}`;
      const how = `${results.length} tests of ${files.join(", ")}${first}`;
      return [exactly(`${title}: tests that failed`, failed.length, 0, "", how)];
    },
  };
}
