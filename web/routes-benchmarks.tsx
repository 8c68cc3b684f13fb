import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "./farm/query-client.ts";
import type * as BenchmarkPages from "./pages/benchmarks/pages.ts";
import {
  compareSearch,
  graphsSearch,
  noiseSearch,
  searchesSearch,
  seriesSearch,
  statusSearch,
} from "./pages/benchmarks/search.ts";
import { root } from "./root-route.tsx";

const benchmarks = createRoute({
  getParentRoute: () => root,
  path: "/benchmarks",
  validateSearch: statusSearch,
  loader: async () => {
    const { statusQuery } = await benchmarkLoads();
    await queryClient.ensureQueryData(statusQuery);
  },
  component: benchmarkPage("StatusPage"),
});

const benchmarkCompare = createRoute({
  getParentRoute: () => root,
  path: "/benchmarks/compare",
  validateSearch: compareSearch,
  loaderDeps: ({ search: { suite, before, after, metric } }) => ({ suite, before, after, metric }),
  loader: async ({ deps }) => {
    const { loadComparison } = await benchmarkLoads();
    await loadComparison(queryClient, deps);
  },
  component: benchmarkPage("ComparePage"),
});

const benchmarkGraphs = createRoute({
  getParentRoute: () => root,
  path: "/benchmarks/graphs",
  validateSearch: graphsSearch,
  loader: async () => {
    const { suitesQuery } = await benchmarkLoads();
    await queryClient.ensureQueryData(suitesQuery);
  },
  component: benchmarkPage("GraphsPage"),
});

const benchmarkSeries = createRoute({
  getParentRoute: () => root,
  path: "/benchmarks/series",
  validateSearch: seriesSearch,
  loader: async () => {
    const { suitesQuery } = await benchmarkLoads();
    await queryClient.ensureQueryData(suitesQuery);
  },
  component: benchmarkPage("SeriesPage"),
});

const benchmarkNoise = createRoute({
  getParentRoute: () => root,
  path: "/benchmarks/noise",
  validateSearch: noiseSearch,
  loader: async () => {
    const { suitesQuery } = await benchmarkLoads();
    await queryClient.ensureQueryData(suitesQuery);
  },
  component: benchmarkPage("NoisePage"),
});

const benchmarkRequest = createRoute({
  getParentRoute: () => root,
  path: "/benchmarks/requests/$id",
  loader: async ({ params }) => {
    const { requestQuery } = await benchmarkLoads();
    await queryClient.ensureQueryData(requestQuery(params.id));
  },
  component: benchmarkPage("RequestPage"),
});

const benchmarkCollector = createRoute({
  getParentRoute: () => root,
  path: "/benchmarks/collectors/$name",
  loader: async () => {
    const { collectorsQuery } = await benchmarkLoads();
    await queryClient.ensureQueryData(collectorsQuery);
  },
  component: benchmarkPage("CollectorPage"),
});

const benchmarkSearches = createRoute({
  getParentRoute: () => root,
  path: "/benchmarks/searches",
  validateSearch: searchesSearch,
  loader: async () => {
    const { suitesQuery } = await benchmarkLoads();
    await queryClient.ensureQueryData(suitesQuery);
  },
  component: benchmarkPage("BenchmarkSearchesPage"),
});

const benchmarkSearch = createRoute({
  getParentRoute: () => root,
  path: "/benchmarks/searches/$id",
  loader: async ({ params }) => {
    const { benchmarkSearchQuery } = await benchmarkLoads();
    await queryClient.ensureQueryData(benchmarkSearchQuery(params.id));
  },
  component: benchmarkPage("BenchmarkSearchPage"),
});

const benchmarkHelp = createRoute({
  getParentRoute: () => root,
  path: "/benchmarks/help",
  component: benchmarkPage("HelpPage"),
});

/** The benchmark lab. */
export const benchmarksRoutes = [
  benchmarks,
  benchmarkCompare,
  benchmarkGraphs,
  benchmarkSeries,
  benchmarkNoise,
  benchmarkRequest,
  benchmarkCollector,
  benchmarkSearches,
  benchmarkSearch,
  benchmarkHelp,
] as const;

/** One file for all of them: the first script contains the name of each separate file. */
function benchmarkLoads() {
  return import("./pages/benchmarks/loads.ts");
}

function benchmarkPage<N extends keyof typeof BenchmarkPages>(name: N) {
  return lazyRouteComponent(() => import("./pages/benchmarks/pages.ts"), name);
}
