// Loaded together: the first script contains the name of each separate file, and its size is at its limit.
export { loadComparison } from "../benchmark-compare/load.ts";
export { benchmarkSearchQuery } from "../benchmark-searches/load.ts";
export { collectorsQuery, requestQuery, statusQuery, suitesQuery } from "./load.ts";
