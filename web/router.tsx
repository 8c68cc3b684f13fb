import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from "@tanstack/react-router";
import { queryClient } from "./farm/query-client.ts";
import { CatalogDiffSearch } from "./pages/catalog-diff/load.ts";
import { graphQuery } from "./pages/graph/load.ts";
import { GraphSearch } from "./pages/graph/search.ts";
import { setQuery } from "./pages/graph-set/load.ts";
import { jobQuery } from "./pages/job/load.ts";
import { JobSearch } from "./pages/job/search.ts";
import { NewGraphSearch } from "./pages/new-graph/load.ts";
import { repositoriesQuery } from "./pages/repositories/load.ts";
import { graphsQuery } from "./pages/repository/load.ts";
import { TimesSearch, timesQuery } from "./pages/times/load.ts";
import { workersQuery } from "./pages/workers/load.ts";
import { ErrorPage } from "./shell/error-page.tsx";
import { NotFound } from "./shell/not-found.tsx";
import { Shell } from "./shell/shell.tsx";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const repositories = createRoute({
  getParentRoute: () => root,
  path: "/",
  loader: () => queryClient.ensureQueryData(repositoriesQuery),
  component: lazyRouteComponent(() => import("./pages/repositories/page.tsx"), "RepositoriesPage"),
});

const repository = createRoute({
  getParentRoute: () => root,
  path: "/repositories/$name",
  loader: ({ params }) => queryClient.ensureInfiniteQueryData(graphsQuery(params.name)),
  component: lazyRouteComponent(() => import("./pages/repository/page.tsx"), "RepositoryPage"),
});

const graph = createRoute({
  getParentRoute: () => root,
  path: "/graphs/$id",
  validateSearch: (search) => GraphSearch.parse(search),
  loader: ({ params }) => queryClient.ensureQueryData(graphQuery(params.id)),
  component: lazyRouteComponent(() => import("./pages/graph/page.tsx"), "GraphPage"),
});

const job = createRoute({
  getParentRoute: () => root,
  path: "/graphs/$id/jobs/$name",
  validateSearch: (search) => JobSearch.parse(search),
  loader: ({ params }) => queryClient.ensureQueryData(jobQuery(params.id, params.name)),
  component: lazyRouteComponent(() => import("./pages/job/page.tsx"), "JobPage"),
});

const workers = createRoute({
  getParentRoute: () => root,
  path: "/workers",
  loader: () => queryClient.ensureQueryData(workersQuery),
  component: lazyRouteComponent(() => import("./pages/workers/page.tsx"), "WorkersPage"),
});

const graphSet = createRoute({
  getParentRoute: () => root,
  path: "/sets/$id",
  loader: ({ params }) => queryClient.ensureQueryData(setQuery(params.id)),
  component: lazyRouteComponent(() => import("./pages/graph-set/page.tsx"), "GraphSetPage"),
});

const newGraph = createRoute({
  getParentRoute: () => root,
  path: "/new",
  validateSearch: (search) => NewGraphSearch.parse(search),
  loader: () => queryClient.ensureQueryData(repositoriesQuery),
  component: lazyRouteComponent(() => import("./pages/new-graph/page.tsx"), "NewGraphPage"),
});

const catalogDiff = createRoute({
  getParentRoute: () => root,
  path: "/catalogs/diff",
  validateSearch: (search) => CatalogDiffSearch.parse(search),
  component: lazyRouteComponent(() => import("./pages/catalog-diff/page.tsx"), "CatalogDiffPage"),
});

const times = createRoute({
  getParentRoute: () => root,
  path: "/times",
  validateSearch: (search) => TimesSearch.parse(search),
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => queryClient.ensureQueryData(timesQuery(deps)),
  component: lazyRouteComponent(() => import("./pages/times/page.tsx"), "TimesPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([
    repositories,
    repository,
    graph,
    job,
    graphSet,
    newGraph,
    catalogDiff,
    times,
    workers,
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
