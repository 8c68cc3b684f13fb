import type { Show } from "../row.ts";
import { labPages } from "./lab-pages.ts";
import { largeGraph } from "./large-graph.ts";
import { countsLong } from "./noise/counts-rows.ts";
import { noiseLong, noiseQuick } from "./noise/noise-rows.ts";
import { sentencesListed, sentencesPassing } from "./sentences.ts";
import { ccacheBesideGranary } from "./shared-cache/ccache-beside-granary.ts";
import { sizeClassRows } from "./size-classes/size-class-rows.ts";

/** The requirements of the five papers, sentence by sentence. */
export const seedsShow: Show = {
  name: "seeds",
  measurements: [
    sentencesListed,
    sentencesPassing,
    largeGraph,
    labPages,
    noiseQuick,
    noiseLong,
    countsLong,
    ...sizeClassRows,
    ccacheBesideGranary(34),
    ccacheBesideGranary(140),
  ],
};
