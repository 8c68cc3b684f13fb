import type { Show } from "../row.ts";
import { largeGraph } from "./large-graph.ts";

/** What the five papers ask for, sentence by sentence. */
export const seedsShow: Show = { name: "seeds", measurements: [largeGraph] };
