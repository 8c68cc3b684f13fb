// Loaded together, for the reason of `loads.ts`.
export { CollectorPage } from "../benchmark-collector/page.tsx";
export { ComparePage } from "../benchmark-compare/page.tsx";
export { GraphsPage } from "../benchmark-graphs/page.tsx";
export { HelpPage } from "../benchmark-help/page.tsx";
export { NoisePage } from "../benchmark-noise/page.tsx";
export { RequestPage } from "../benchmark-request/page.tsx";
export { BenchmarkSearchesPage } from "../benchmark-searches/page.tsx";
export { BenchmarkSearchPage } from "../benchmark-searches/search-page.tsx";
export { SeriesPage } from "../benchmark-series/page.tsx";
export { StatusPage } from "./page.tsx";
