import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "./farm/query-client.ts";
import { SizeClassSearch } from "./pages/size-class/search.ts";
import { SizeClassKeySearch } from "./pages/size-class-key/search.ts";
import { SizeClassesSearch } from "./pages/size-classes/search.ts";
import { WorkerTimelineSearch } from "./pages/worker-timeline/search.ts";
import { root } from "./root-route.tsx";

const workers = createRoute({
  getParentRoute: () => root,
  path: "/workers",
  loader: async () => {
    const { workersQuery } = await import("./pages/workers/load.ts");
    await queryClient.ensureQueryData(workersQuery);
  },
  component: lazyRouteComponent(() => import("./pages/workers/page.tsx"), "WorkersPage"),
});

const workerTimeline = createRoute({
  getParentRoute: () => root,
  path: "/workers/timeline",
  validateSearch: (search) => WorkerTimelineSearch.parse(search),
  loaderDeps: ({ search: { minutes } }) => ({ minutes }),
  loader: async ({ deps: { minutes } }) => {
    const { timelineQuery } = await import("./pages/worker-timeline/load.ts");
    await queryClient.ensureQueryData(timelineQuery(minutes));
  },
  component: lazyRouteComponent(
    () => import("./pages/worker-timeline/page.tsx"),
    "WorkerTimelinePage",
  ),
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

/** The workers and their size classes. */
export const workersRoutes = [
  workers,
  workerTimeline,
  sizeClasses,
  sizeClass,
  sizeClassKey,
] as const;
