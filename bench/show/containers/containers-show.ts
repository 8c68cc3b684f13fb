import type { Show } from "../row.ts";
import { hostileImages } from "./hostile-images.ts";
import { imageTimes } from "./image-times.ts";
import { killedWorkers } from "./killed-workers.ts";

/** Jobs and actions in container images. */
export const containersShow: Show = {
  name: "containers",
  measurements: [imageTimes, hostileImages, killedWorkers],
};
