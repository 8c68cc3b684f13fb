import { createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "./farm/query-client.ts";
import { sessionQuery } from "./farm/session.ts";
import { SignInSearch } from "./pages/sign-in/search.ts";
import { root } from "./root-route.tsx";
import { benchmarksRoutes } from "./routes-benchmarks.tsx";
import { buildToolsRoutes } from "./routes-build-tools.tsx";
import { granaryRoutes } from "./routes-granary.tsx";
import { graphsRoutes } from "./routes-graphs.tsx";
import { workersRoutes } from "./routes-workers.tsx";
import { ErrorPage } from "./shell/error-page.tsx";

// Loaders load the schemas of answers together with their page: all of them are larger than the rest of the first page.

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (search) => SignInSearch.parse(search),
  loader: () => queryClient.fetchQuery(sessionQuery),
  component: lazyRouteComponent(() => import("./pages/sign-in/page.tsx"), "SignInPage"),
});

const shared = createRoute({
  getParentRoute: () => root,
  path: "/shared",
  component: lazyRouteComponent(() => import("./pages/shared/page.tsx"), "SharedPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([
    ...graphsRoutes,
    ...workersRoutes,
    ...buildToolsRoutes,
    ...benchmarksRoutes,
    ...granaryRoutes,
    signIn,
    shared,
  ]),
  defaultErrorComponent: ErrorPage,
  defaultPreload: "intent",
  // The query client decides which data is fresh.
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
