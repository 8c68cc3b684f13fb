import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "./farm/query-client.ts";
import { CacheSearch, defaultDays } from "./pages/cache/search.ts";
import type * as GranaryPages from "./pages/granary/pages.ts";
import {
  commitIndexSearch,
  granaryBuildSearch,
  granaryBuildsSearch,
  granarySearch,
} from "./pages/granary/search.ts";
import { root } from "./root-route.tsx";

const cache = createRoute({
  getParentRoute: () => root,
  path: "/cache",
  validateSearch: (search) => CacheSearch.parse(search),
  loaderDeps: ({ search: { days } }) => ({ days }),
  loader: async ({ deps }) => {
    const { cacheUseQuery, storeContentsQuery } = await import("./pages/cache/load.ts");
    await Promise.all([
      queryClient.ensureQueryData(cacheUseQuery(deps.days ?? defaultDays)),
      queryClient.ensureQueryData(storeContentsQuery),
    ]);
  },
  component: lazyRouteComponent(() => import("./pages/cache/page.tsx"), "CachePage"),
});

const builds = createRoute({
  getParentRoute: () => root,
  path: "/granary",
  validateSearch: granaryBuildsSearch,
  loaderDeps: ({ search: { project, commit } }) => ({ project, commit }),
  loader: async ({ deps }) => {
    const { buildsQuery, savingsQuery } = await loads();
    await Promise.all([
      queryClient.ensureInfiniteQueryData(buildsQuery(deps)),
      queryClient.ensureQueryData(savingsQuery(deps.project)),
    ]);
  },
  component: page("GranaryPage"),
});

const build = createRoute({
  getParentRoute: () => root,
  path: "/granary/builds/$id",
  validateSearch: granaryBuildSearch,
  loader: async ({ params }) => {
    const { buildQuery } = await loads();
    await queryClient.ensureQueryData(buildQuery(params.id));
  },
  component: page("GranaryBuildPage"),
});

const indexes = createRoute({
  getParentRoute: () => root,
  path: "/granary/indexes",
  validateSearch: granarySearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ deps }) => {
    const { indexesQuery } = await loads();
    await queryClient.ensureQueryData(indexesQuery(deps.project));
  },
  component: page("CommitIndexesPage"),
});

const index = createRoute({
  getParentRoute: () => root,
  path: "/granary/indexes/$commit",
  validateSearch: commitIndexSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ params, deps }) => {
    const { indexQuery } = await loads();
    await queryClient.ensureInfiniteQueryData(indexQuery({ commit: params.commit, ...deps }));
  },
  component: page("CommitIndexPage"),
});

const quarantine = createRoute({
  getParentRoute: () => root,
  path: "/granary/quarantine",
  validateSearch: granarySearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ deps }) => {
    const { quarantineQuery } = await loads();
    await queryClient.ensureQueryData(quarantineQuery(deps.project));
  },
  component: page("QuarantinePage"),
});

const help = createRoute({
  getParentRoute: () => root,
  path: "/granary/help",
  component: page("GranaryHelpPage"),
});

function loads() {
  return import("./pages/granary/load.ts");
}

/** One file for all of them: the first script contains the name of each separate file. */
function page<N extends keyof typeof GranaryPages>(name: N) {
  return lazyRouteComponent(() => import("./pages/granary/pages.ts"), name);
}

/** The cache of the farm, and granaries. */
export const granaryRoutes = [cache, builds, build, indexes, index, quarantine, help] as const;
