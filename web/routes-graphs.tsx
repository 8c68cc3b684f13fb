import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "./farm/query-client.ts";
import { BranchesSearch } from "./pages/branches/search.ts";
import { CatalogDiffSearch } from "./pages/catalog-diff/search.ts";
import { FlakySearch } from "./pages/flaky/search.ts";
import { GraphSearch } from "./pages/graph/search.ts";
import { JobSearch } from "./pages/job/search.ts";
import { NewGraphSearch } from "./pages/new-graph/search.ts";
import { RepositorySearch } from "./pages/repository/search.ts";
import { RightsSearch } from "./pages/rights/search.ts";
import { SearchesSearch } from "./pages/searches/search.ts";
import { TimesSearch } from "./pages/times/search.ts";
import { TrendsSearch } from "./pages/trends/search.ts";
import { root } from "./root-route.tsx";

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  loader: async () => {
    const { overviewQuery } = await import("./pages/home/load.ts");
    await queryClient.ensureQueryData(overviewQuery);
  },
  component: lazyRouteComponent(() => import("./pages/home/page.tsx"), "HomePage"),
});

const repositories = createRoute({
  getParentRoute: () => root,
  path: "/repositories",
  loader: async () => {
    const { repositoriesQuery } = await import("./pages/repositories/load.ts");
    await queryClient.ensureQueryData(repositoriesQuery);
  },
  component: lazyRouteComponent(() => import("./pages/repositories/page.tsx"), "RepositoriesPage"),
});

const repository = createRoute({
  getParentRoute: () => root,
  path: "/repositories/$name",
  validateSearch: (search) => RepositorySearch.parse(search),
  loaderDeps: ({ search }) => search,
  loader: async ({ params, deps }) => {
    const { gridQuery } = await import("./pages/repository/load.ts");
    await queryClient.ensureInfiniteQueryData(gridQuery(params.name, deps));
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

const trends = createRoute({
  getParentRoute: () => root,
  path: "/repositories/$name/trends",
  validateSearch: (search) => TrendsSearch.parse(search),
  loaderDeps: ({ search }) => search,
  loader: async ({ params, deps }) => {
    const { trendsQuery } = await import("./pages/trends/load.ts");
    await queryClient.ensureQueryData(trendsQuery(params.name, deps));
  },
  component: lazyRouteComponent(() => import("./pages/trends/page.tsx"), "TrendsPage"),
});

const retention = createRoute({
  getParentRoute: () => root,
  path: "/retention",
  loader: async () => {
    const { retentionQuery } = await import("./pages/retention/load.ts");
    await queryClient.ensureQueryData(retentionQuery);
  },
  component: lazyRouteComponent(() => import("./pages/retention/page.tsx"), "RetentionPage"),
});

const rights = createRoute({
  getParentRoute: () => root,
  path: "/rights",
  validateSearch: (search) => RightsSearch.parse(search),
  loaderDeps: ({ search }) => search,
  loader: async ({ deps }) => {
    const { placeRightsQuery, principalRightsQuery } = await import("./pages/rights/load.ts");
    await (deps.principal === undefined
      ? queryClient.ensureQueryData(placeRightsQuery(deps))
      : queryClient.ensureQueryData(principalRightsQuery(deps.principal)));
  },
  component: lazyRouteComponent(() => import("./pages/rights/page.tsx"), "RightsPage"),
});

const shareLinks = createRoute({
  getParentRoute: () => root,
  path: "/share-links",
  loader: async () => {
    const { shareLinksQuery } = await import("./pages/share-links/load.ts");
    await queryClient.ensureQueryData(shareLinksQuery);
  },
  component: lazyRouteComponent(() => import("./pages/share-links/page.tsx"), "ShareLinksPage"),
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
    const { jobPageQuery } = await import("./pages/job/load.ts");
    await queryClient.ensureQueryData(jobPageQuery(params.id, params.name));
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

const flaky = createRoute({
  getParentRoute: () => root,
  path: "/flaky",
  validateSearch: (search) => FlakySearch.parse(search),
  loaderDeps: ({ search }) => search,
  loader: async ({ deps }) => {
    const { flakyQuery } = await import("./pages/flaky/load.ts");
    await queryClient.ensureQueryData(flakyQuery(deps));
  },
  component: lazyRouteComponent(() => import("./pages/flaky/page.tsx"), "FlakyPage"),
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

/** Commits, their graphs and jobs, and searches over many of them. */
export const graphsRoutes = [
  home,
  repositories,
  repository,
  branches,
  trends,
  forge,
  retention,
  rights,
  shareLinks,
  graph,
  job,
  graphSet,
  newGraph,
  catalogDiff,
  searches,
  search,
  times,
  flaky,
] as const;
