import type { Show } from "../row.ts";
import { millionDecisions } from "./million-decisions.ts";
import { pagerankFigures } from "./pagerank-figures.ts";
import { realThing } from "./real-thing.ts";
import { seedsTable } from "./seeds-table.ts";
import { simulations } from "./simulations.ts";

/** Size classes: what the baselines are, and how well and how fast they are chosen. */
export const sizeClassesShow: Show = {
  name: "size-classes",
  measurements: [seedsTable, pagerankFigures, millionDecisions, ...simulations, realThing],
};
