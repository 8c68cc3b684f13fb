import type { Show } from "../row.ts";
import { millionDecisions } from "./million-decisions.ts";
import { pagerankFigures } from "./pagerank-figures.ts";
import { realThing } from "./real-thing.ts";
import { seedsTable } from "./seeds-table.ts";
import { simulations } from "./simulations.ts";

/** Size classes: the baselines, and the quality and speed of the choice. */
export const sizeClassesShow: Show = {
  name: "size-classes",
  measurements: [seedsTable, pagerankFigures, millionDecisions, ...simulations, realThing],
};
