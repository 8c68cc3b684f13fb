import type { Show } from "../row.ts";
import { badInput } from "./bad-input.ts";
import { freshClone } from "./fresh-clone.ts";
import { killNine } from "./kill-nine.ts";
import { largeGraph } from "./large-graph.ts";
import { oneFile } from "./one-file.ts";
import { startLatency } from "./start-latency.ts";
import { throughput } from "./throughput.ts";

/** From a commit to a graph that succeeds: the promises of the first farm. */
export const farmShow: Show = {
  name: "farm",
  measurements: [freshClone, oneFile, killNine, startLatency, throughput, largeGraph, badInput],
};
