import { byTests } from "../by-tests.ts";
import type { Show } from "../row.ts";
import { brokenDisks, manyBrokenDisks } from "./broken-disks.ts";
import { claimsOfManyWorkers } from "./claims-of-many-workers.ts";
import { claimsWithFullQueue } from "./claims-with-full-queue.ts";
import { crashesAtPoints, manyCrashesAtPoints } from "./crashes-at-points.ts";
import { durableBlobs } from "./durable-blobs.ts";
import { parallelSubmissions } from "./parallel-submissions.ts";
import { manyPowerLosses, powerLosses } from "./power-losses.ts";
import { manyRandomCuts, randomCuts } from "./random-cuts.ts";
import { manyRandomKills, randomKills } from "./random-kills.ts";
import { manyRandomStops, randomStops } from "./random-stops.ts";
import { manySecondServers, secondServers } from "./second-servers.ts";
import { longSimulation, plantedBugsFound, simulation } from "./simulation.ts";
import { soakWithFaults } from "./soak-with-faults.ts";
import { manySpoiledBlobs, spoiledBlobs } from "./spoiled-blobs.ts";

/** Whether a farm recovers from failures, and works under load. */
export const recoveryShow: Show = {
  name: "recovery",
  measurements: [
    simulation,
    longSimulation,
    plantedBugsFound,
    randomKills,
    manyRandomKills,
    crashesAtPoints,
    manyCrashesAtPoints,
    byTests("backup under load, everything destroyed, restored", "test/faults/backup.test.ts"),
    randomStops,
    manyRandomStops,
    secondServers,
    manySecondServers,
    byTests(
      "two servers: with stores of their own, on one database",
      "test/faults/two-servers.test.ts",
      "src/server/blob-storage/claim-store.test.ts",
    ),
    randomCuts,
    manyRandomCuts,
    byTests(
      "a network that fails for less and more than a lease",
      "test/faults/lost-network.test.ts",
      "test/faults/network-cut.test.ts",
      "src/db/time-limits.test.ts",
    ),
    brokenDisks,
    manyBrokenDisks,
    byTests("full disks, and what they say", "test/faults/full-disk.test.ts"),
    spoiledBlobs,
    manySpoiledBlobs,
    byTests(
      "blobs that are lost: found by a check of the store, and made again",
      "src/server/retention/start-scrub.test.ts",
      "src/cas/verifying-blob-store.test.ts",
      "src/graphs/lost-inputs.test.ts",
    ),
    powerLosses,
    manyPowerLosses,
    claimsOfManyWorkers,
    claimsWithFullQueue,
    parallelSubmissions,
    durableBlobs,
    soakWithFaults,
  ],
};
