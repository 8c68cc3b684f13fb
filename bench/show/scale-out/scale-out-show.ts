import { byTests } from "../by-tests.ts";
import type { Show } from "../row.ts";
import { largeBlob, smallBlobs } from "./bucket-transfers.ts";
import { nearServer } from "./near-server.ts";
import {
  fewerIdleWorkersOnTwoServers,
  fullQueueOnTwoServers,
  idleWorkersOnTwoServers,
  throughputOfServers,
} from "./queue-at-scale.ts";
import {
  databaseFailover,
  serversKilled,
  serversKilledBehindHaproxy,
  upgradesFromEarlierCommit,
  upgradesRolled,
} from "./several-servers.ts";
import { wholeDeployment } from "./whole-deployment.ts";

/** Whether a farm works on several machines with blobs in a bucket. */
export const scaleOutShow: Show = {
  name: "scale-out",
  measurements: [
    largeBlob,
    smallBlobs,
    byTests(
      "two servers with one bucket; servers with other blobs are refused",
      "test/end-to-end/object-storage.test.ts",
      "test/faults/two-servers.test.ts",
    ),
    byTests(
      "trace of one graph through three processes, in a collector with OpenTelemetry's definitions",
      "test/end-to-end/traces.test.ts",
    ),
    byTests(
      "a bucket that fails, is silent, or loses answers",
      "src/server/blob-storage/bucket-storage.test.ts",
    ),
    serversKilled,
    serversKilledBehindHaproxy,
    databaseFailover,
    byTests(
      "pages and searches from a standby, and from the primary when it is behind or gone",
      "test/faults/read-replicas.test.ts",
    ),
    nearServer,
    wholeDeployment,
    upgradesRolled,
    upgradesFromEarlierCommit,
    fewerIdleWorkersOnTwoServers,
    idleWorkersOnTwoServers,
    fullQueueOnTwoServers,
    throughputOfServers,
  ],
};
