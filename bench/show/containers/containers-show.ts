import type { Show } from "../row.ts";
import { ciRuns } from "./ci-runs.ts";
import { guestbook } from "./guestbook.ts";
import { hostileImages } from "./hostile-images.ts";
import { imageTimes } from "./image-times.ts";
import { killedWorkers, manyKilledWorkers } from "./killed-workers.ts";
import { publicPlatforms } from "./public-platforms.ts";

/** Jobs and actions in container images. */
export const containersShow: Show = {
  name: "containers",
  measurements: [
    imageTimes,
    hostileImages,
    killedWorkers,
    manyKilledWorkers,
    publicPlatforms,
    ciRuns,
    guestbook,
  ],
};
