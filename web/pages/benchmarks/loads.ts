// Loaded together: each file more has its name in the first script, which is as large as it may be.
export { loadComparison } from "../benchmark-compare/load.ts";
export { benchmarkSearchQuery } from "../benchmark-searches/load.ts";
export { collectorsQuery, requestQuery, statusQuery, suitesQuery } from "./load.ts";
