import type { Show } from "../row.ts";
import { actionCpu } from "./action-cpu.ts";
import { bazelMeasurements } from "./bazel-measurements.ts";
import { bytesOverGrpc } from "./bytes.ts";
import { cargoProject } from "./cargo-project.ts";
import { conformance } from "./conformance.ts";
import { goProject } from "./go-project.ts";
import { hostile } from "./hostile.ts";
import { httpCacheSpeed } from "./http-cache-speed.ts";
import { httpCaches } from "./http-caches.ts";
import { javaProjects } from "./java-projects.ts";
import { noOpActions } from "./no-op-actions.ts";
import { persistentWorkers } from "./persistent-workers.ts";
import { restarts } from "./restarts.ts";
import { smallGenrules } from "./small-genrules.ts";

/** Remote execution and caches for existing build tools. */
export const buildToolsShow: Show = {
  name: "build-tools",
  measurements: [
    conformance,
    ...bazelMeasurements,
    httpCaches,
    httpCacheSpeed,
    goProject,
    cargoProject,
    ...javaProjects,
    noOpActions,
    actionCpu,
    smallGenrules,
    persistentWorkers,
    restarts,
    bytesOverGrpc,
    hostile,
  ],
};
