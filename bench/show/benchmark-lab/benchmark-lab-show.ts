import type { Show } from "../row.ts";
import { sameArtifact } from "./a-a.ts";
import { backfill } from "./backfill.ts";
import { killedAtRandom } from "./killed-at-random.ts";
import { nativeHistory } from "./native-history.ts";
import { nightliesAndReleases } from "./nightlies.ts";
import { numerics } from "./numerics.ts";
import { slowDowns } from "./slow-downs.ts";
import { storedHistory } from "./stored.ts";

export const benchmarkLabShow: Show = {
  name: "benchmark-lab",
  measurements: [
    nightliesAndReleases,
    nativeHistory,
    backfill,
    killedAtRandom,
    sameArtifact,
    slowDowns,
    storedHistory,
    numerics,
  ],
};
