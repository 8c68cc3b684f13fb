import { createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { queryClient } from "./farm/query-client.ts";
import { sessionQuery } from "./farm/session.ts";
import type * as BenchmarkPages from "./pages/benchmarks/pages.ts";
import {
  compareSearch,
  graphsSearch,
  searchesSearch,
  seriesSearch,
  statusSearch,
} from "./pages/benchmarks/search.ts";
import { BranchesSearch } from "./pages/branches/search.ts";
import { CatalogDiffSearch } from "./pages/catalog-diff/search.ts";
import { ConnectSearch } from "./pages/connect/search.ts";
import { ExecutionSearch } from "./pages/execution/search.ts";
import { GraphSearch } from "./pages/graph/search.ts";
import { InvocationSearch } from "./pages/invocation/search.ts";
import { InvocationsSearch } from "./pages/invocations/search.ts";
import { JobSearch } from "./pages/job/search.ts";
import { NewGraphSearch } from "./pages/new-graph/search.ts";
import { SearchesSearch } from "./pages/searches/search.ts";
import { SignInSearch } from "./pages/sign-in/search.ts";
import { SizeClassSearch } from "./pages/size-class/search.ts";
import { SizeClassKeySearch } from "./pages/size-class-key/search.ts";
import { SizeClassesSearch } from "./pages/size-classes/search.ts";
import { TimesSearch } from "./pages/times/search.ts";
import { root } from "./root-route.tsx";
import { granaryRoutes } from "./routes-granary.tsx";
import { ErrorPage } from "./shell/error-page.tsx";

// Loaders fetch the shapes of answers with their page: together they are larger than all that the first page needs.

const repositories = createRoute({
  getParentRoute: () => root,
  path: "/",
  loader: async () => {
    const { repositoriesQuery } = await import("./pages/repositories/load.ts");
    await queryClient.ensureQueryData(repositoriesQuery);
  },
  component: lazyRouteComponent(() => import("./pages/repositories/page.tsx"), "RepositoriesPage"),
});

const repository = createRoute({
  getParentRoute: () => root,
  path: "/repositories/$name",
  loader: async ({ params }) => {
    const { graphsQuery } = await import("./pages/repository/load.ts");
    await queryClient.ensureInfiniteQueryData(graphsQuery(params.name));
  },
  component: lazyRouteComponent(() => import("./pages/repository/page.tsx"), "RepositoryPage"),
});

const branches = createRoute({
  getParentRoute: () => root,
  path: "/repositories/$name/branches",
  validateSearch: (search) => BranchesSearch.parse(search),
  loader: async ({ params }) => {
    const { branchesQuery } = await import("./pages/branches/load.ts");
    await queryClient.ensureQueryData(branchesQuery(params.name));
  },
  component: lazyRouteComponent(() => import("./pages/branches/page.tsx"), "BranchesPage"),
});

const forge = createRoute({
  getParentRoute: () => root,
  path: "/forge",
  loader: async () => {
    const { watchedQuery } = await import("./pages/forge/load.ts");
    await queryClient.ensureQueryData(watchedQuery);
  },
  component: lazyRouteComponent(() => import("./pages/forge/page.tsx"), "ForgePage"),
});

const graph = createRoute({
  getParentRoute: () => root,
  path: "/graphs/$id",
  validateSearch: (search) => GraphSearch.parse(search),
  loader: async ({ params }) => {
    const { graphQuery } = await import("./pages/graph/load.ts");
    await queryClient.ensureQueryData(graphQuery(params.id));
  },
  component: lazyRouteComponent(() => import("./pages/graph/page.tsx"), "GraphPage"),
});

const job = createRoute({
  getParentRoute: () => root,
  path: "/graphs/$id/jobs/$name",
  validateSearch: (search) => JobSearch.parse(search),
  loader: async ({ params }) => {
    const { jobQuery } = await import("./pages/job/load.ts");
    await queryClient.ensureQueryData(jobQuery(params.id, params.name));
  },
  component: lazyRouteComponent(() => import("./pages/job/page.tsx"), "JobPage"),
});

const graphSet = createRoute({
  getParentRoute: () => root,
  path: "/sets/$id",
  loader: async ({ params }) => {
    const { setQuery } = await import("./pages/graph-set/load.ts");
    await queryClient.ensureQueryData(setQuery(params.id));
  },
  component: lazyRouteComponent(() => import("./pages/graph-set/page.tsx"), "GraphSetPage"),
});

const newGraph = createRoute({
  getParentRoute: () => root,
  path: "/new",
  validateSearch: (search) => NewGraphSearch.parse(search),
  loader: async () => {
    const { repositoriesQuery } = await import("./pages/repositories/load.ts");
    await queryClient.ensureQueryData(repositoriesQuery);
  },
  component: lazyRouteComponent(() => import("./pages/new-graph/page.tsx"), "NewGraphPage"),
});

const catalogDiff = createRoute({
  getParentRoute: () => root,
  path: "/catalogs/diff",
  validateSearch: (search) => CatalogDiffSearch.parse(search),
  component: lazyRouteComponent(() => import("./pages/catalog-diff/page.tsx"), "CatalogDiffPage"),
});

const searches = createRoute({
  getParentRoute: () => root,
  path: "/searches",
  validateSearch: (search) => SearchesSearch.parse(search),
  loaderDeps: ({ search: { repository: name } }) => ({ name }),
  loader: async ({ deps }) => {
    const { searchesQuery } = await import("./pages/searches/load.ts");
    await queryClient.ensureQueryData(searchesQuery(deps.name));
  },
  component: lazyRouteComponent(() => import("./pages/searches/page.tsx"), "SearchesPage"),
});

const search = createRoute({
  getParentRoute: () => root,
  path: "/searches/$id",
  loader: async ({ params }) => {
    const { searchQuery } = await import("./pages/search/load.ts");
    await queryClient.ensureInfiniteQueryData(searchQuery(params.id));
  },
  component: lazyRouteComponent(() => import("./pages/search/page.tsx"), "SearchPage"),
});

const times = createRoute({
  getParentRoute: () => root,
  path: "/times",
  validateSearch: (search) => TimesSearch.parse(search),
  loaderDeps: ({ search }) => search,
  loader: async ({ deps }) => {
    const { timesQuery } = await import("./pages/times/load.ts");
    await queryClient.ensureQueryData(timesQuery(deps));
  },
  component: lazyRouteComponent(() => import("./pages/times/page.tsx"), "TimesPage"),
});

const workers = createRoute({
  getParentRoute: () => root,
  path: "/workers",
  loader: async () => {
    const { workersQuery } = await import("./pages/workers/load.ts");
    await queryClient.ensureQueryData(workersQuery);
  },
  component: lazyRouteComponent(() => import("./pages/workers/page.tsx"), "WorkersPage"),
});

const sizeClasses = createRoute({
  getParentRoute: () => root,
  path: "/size-classes",
  validateSearch: (search) => SizeClassesSearch.parse(search),
  loader: async () => {
    const { sizeClassesQuery } = await import("./pages/size-classes/loads.ts");
    await queryClient.ensureQueryData(sizeClassesQuery);
  },
  component: lazyRouteComponent(() => import("./pages/size-classes/pages.ts"), "SizeClassesPage"),
});

const sizeClass = createRoute({
  getParentRoute: () => root,
  path: "/size-classes/$class",
  validateSearch: (search) => SizeClassSearch.parse(search),
  loaderDeps: ({ search }) => search,
  loader: async ({ params, deps }) => {
    const { sizeClassQuery } = await import("./pages/size-classes/loads.ts");
    await queryClient.ensureQueryData(sizeClassQuery(params.class, deps.platform));
  },
  component: lazyRouteComponent(() => import("./pages/size-classes/pages.ts"), "SizeClassPage"),
});

const sizeClassKey = createRoute({
  getParentRoute: () => root,
  path: "/size-class-keys/$key",
  validateSearch: (search) => SizeClassKeySearch.parse(search),
  loaderDeps: ({ search }) => search,
  loader: async ({ params, deps }) => {
    const { sizeClassKeyQuery } = await import("./pages/size-classes/loads.ts");
    await queryClient.ensureQueryData(sizeClassKeyQuery(params.key, deps));
  },
  component: lazyRouteComponent(() => import("./pages/size-classes/pages.ts"), "SizeClassKeyPage"),
});

const invocations = createRoute({
  getParentRoute: () => root,
  path: "/invocations",
  validateSearch: (search) => InvocationsSearch.parse(search),
  loaderDeps: ({ search: { project, commit } }) => ({ project, commit }),
  loader: async ({ deps }) => {
    const { invocationsQuery } = await import("./pages/invocations/load.ts");
    await queryClient.ensureInfiniteQueryData(invocationsQuery(deps));
  },
  component: lazyRouteComponent(() => import("./pages/invocations/page.tsx"), "InvocationsPage"),
});

const invocation = createRoute({
  getParentRoute: () => root,
  path: "/invocations/$id",
  validateSearch: (search) => InvocationSearch.parse(search),
  loaderDeps: ({ search: { project } }) => ({ project }),
  loader: async ({ params, deps }) => {
    const { invocationQuery } = await import("./pages/invocation/load.ts");
    const address = { id: params.id, project: deps.project ?? "default" };
    await queryClient.ensureQueryData(invocationQuery(address));
  },
  component: lazyRouteComponent(() => import("./pages/invocation/page.tsx"), "InvocationPage"),
});

/** Tools put an invocation's id at the end of an address that they were given: its project is before it. */
const invocationInProject = createRoute({
  getParentRoute: () => root,
  path: "/in/$project/$id",
  beforeLoad: ({ params: { id, project } }) => {
    throw redirect({ to: "/invocations/$id", params: { id }, search: { project }, replace: true });
  },
});

const execution = createRoute({
  getParentRoute: () => root,
  path: "/executions/$id",
  validateSearch: (search) => ExecutionSearch.parse(search),
  loader: async ({ params }) => {
    const { executionQuery } = await import("./pages/execution/load.ts");
    await queryClient.ensureQueryData(executionQuery(params.id));
  },
  component: lazyRouteComponent(() => import("./pages/execution/page.tsx"), "ExecutionPage"),
});

const connect = createRoute({
  getParentRoute: () => root,
  path: "/connect",
  validateSearch: (search) => ConnectSearch.parse(search),
  loader: async () => {
    const { callerQuery } = await import("./pages/connect/load.ts");
    await queryClient.ensureQueryData(callerQuery);
  },
  component: lazyRouteComponent(() => import("./pages/connect/page.tsx"), "ConnectPage"),
});

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

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (search) => SignInSearch.parse(search),
  loader: () => queryClient.fetchQuery(sessionQuery),
  component: lazyRouteComponent(() => import("./pages/sign-in/page.tsx"), "SignInPage"),
});

/** One file for all of them: each more has its name in the first script. */
function benchmarkLoads() {
  return import("./pages/benchmarks/loads.ts");
}

function benchmarkPage<N extends keyof typeof BenchmarkPages>(name: N) {
  return lazyRouteComponent(() => import("./pages/benchmarks/pages.ts"), name);
}

export const router = createRouter({
  routeTree: root.addChildren([
    repositories,
    repository,
    branches,
    forge,
    graph,
    job,
    graphSet,
    newGraph,
    catalogDiff,
    searches,
    search,
    times,
    workers,
    sizeClasses,
    sizeClass,
    sizeClassKey,
    invocations,
    invocation,
    invocationInProject,
    execution,
    connect,
    benchmarks,
    benchmarkCompare,
    benchmarkGraphs,
    benchmarkSeries,
    benchmarkRequest,
    benchmarkCollector,
    benchmarkSearches,
    benchmarkSearch,
    benchmarkHelp,
    ...granaryRoutes,
    signIn,
  ]),
  defaultErrorComponent: ErrorPage,
  defaultPreload: "intent",
  // Query decides what is fresh.
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
