import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "./farm/query-client.ts";
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
    const { statusQuery } = await import("./pages/benchmarks/load.ts");
    await queryClient.ensureQueryData(statusQuery);
  },
  component: lazyRouteComponent(() => import("./pages/benchmarks/page.tsx"), "StatusPage"),
});

const benchmarkCompare = createRoute({
  getParentRoute: () => root,
  path: "/benchmarks/compare",
  validateSearch: compareSearch,
  loaderDeps: ({ search: { suite, before, after, metric } }) => ({ suite, before, after, metric }),
  loader: async ({ deps }) => {
    const { loadComparison } = await import("./pages/benchmark-compare/load.ts");
    await loadComparison(queryClient, deps);
  },
  component: lazyRouteComponent(() => import("./pages/benchmark-compare/page.tsx"), "ComparePage"),
});

const benchmarkGraphs = createRoute({
  getParentRoute: () => root,
  path: "/benchmarks/graphs",
  validateSearch: graphsSearch,
  loader: async () => {
    const { suitesQuery } = await import("./pages/benchmark-series/load.ts");
    await queryClient.ensureQueryData(suitesQuery);
  },
  component: lazyRouteComponent(() => import("./pages/benchmark-graphs/page.tsx"), "GraphsPage"),
});

const benchmarkSeries = createRoute({
  getParentRoute: () => root,
  path: "/benchmarks/series",
  validateSearch: seriesSearch,
  loader: async () => {
    const { suitesQuery } = await import("./pages/benchmark-series/load.ts");
    await queryClient.ensureQueryData(suitesQuery);
  },
  component: lazyRouteComponent(() => import("./pages/benchmark-series/page.tsx"), "SeriesPage"),
});

const benchmarkNoise = createRoute({
  getParentRoute: () => root,
  path: "/benchmarks/noise",
  validateSearch: noiseSearch,
  loader: async () => {
    const { suitesQuery } = await import("./pages/benchmark-series/load.ts");
    await queryClient.ensureQueryData(suitesQuery);
  },
  component: lazyRouteComponent(() => import("./pages/benchmark-noise/page.tsx"), "NoisePage"),
});

const benchmarkRequest = createRoute({
  getParentRoute: () => root,
  path: "/benchmarks/requests/$id",
  loader: async ({ params }) => {
    const { requestQuery } = await import("./pages/benchmarks/load.ts");
    await queryClient.ensureQueryData(requestQuery(params.id));
  },
  component: lazyRouteComponent(() => import("./pages/benchmark-request/page.tsx"), "RequestPage"),
});

const benchmarkCollector = createRoute({
  getParentRoute: () => root,
  path: "/benchmarks/collectors/$name",
  loader: async () => {
    const { collectorsQuery } = await import("./pages/benchmarks/load.ts");
    await queryClient.ensureQueryData(collectorsQuery);
  },
  component: lazyRouteComponent(
    () => import("./pages/benchmark-collector/page.tsx"),
    "CollectorPage",
  ),
});

const benchmarkSearches = createRoute({
  getParentRoute: () => root,
  path: "/benchmarks/searches",
  validateSearch: searchesSearch,
  loader: async () => {
    const { suitesQuery } = await import("./pages/benchmarks/load.ts");
    await queryClient.ensureQueryData(suitesQuery);
  },
  component: lazyRouteComponent(
    () => import("./pages/benchmark-searches/page.tsx"),
    "BenchmarkSearchesPage",
  ),
});

const benchmarkSearch = createRoute({
  getParentRoute: () => root,
  path: "/benchmarks/searches/$id",
  loader: async ({ params }) => {
    const { benchmarkSearchQuery } = await import("./pages/benchmark-searches/load.ts");
    await queryClient.ensureQueryData(benchmarkSearchQuery(params.id));
  },
  component: lazyRouteComponent(
    () => import("./pages/benchmark-searches/search-page.tsx"),
    "BenchmarkSearchPage",
  ),
});

const benchmarkHelp = createRoute({
  getParentRoute: () => root,
  path: "/benchmarks/help",
  component: lazyRouteComponent(() => import("./pages/benchmark-help/page.tsx"), "HelpPage"),
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
