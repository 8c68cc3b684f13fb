import type { Show } from "../row.ts";
import { acceptance } from "./acceptance.ts";
import { morning, wholeDay } from "./day.ts";
import { catalogOfManyDefinitions, preview } from "./definitions.ts";
import { everyHistory } from "./every-history.ts";
import { fanOut } from "./fan-out.ts";
import { fullQueue } from "./full-queue.ts";
import { networkCut } from "./network-cut.ts";
import { tenThousand } from "./ten-thousand.ts";

/** Graphs of jobs: LWR's requirements, and their speed. */
export const graphsShow: Show = {
  name: "graphs",
  measurements: [
    acceptance,
    everyHistory,
    catalogOfManyDefinitions,
    preview,
    tenThousand,
    fullQueue,
    fanOut,
    morning,
    wholeDay,
    networkCut,
  ],
};
