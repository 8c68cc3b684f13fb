import type { Show } from "../row.ts";
import { claimsOfManyWorkers } from "./claims-of-many-workers.ts";
import { durableBlobs } from "./durable-blobs.ts";
import { parallelSubmissions } from "./parallel-submissions.ts";

/** Whether a farm gets back on its feet, and stays on them under load. */
export const recoveryShow: Show = {
  name: "recovery",
  measurements: [parallelSubmissions, claimsOfManyWorkers, durableBlobs],
};
