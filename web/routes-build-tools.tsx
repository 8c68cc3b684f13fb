import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { queryClient } from "./farm/query-client.ts";
import { ConnectSearch } from "./pages/connect/search.ts";
import { ExecutionSearch } from "./pages/execution/search.ts";
import { InvocationSearch } from "./pages/invocation/search.ts";
import { InvocationsSearch } from "./pages/invocations/search.ts";
import { TargetSearch } from "./pages/target/search.ts";
import { root } from "./root-route.tsx";

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

/** Tools append an invocation's id to a configured address, so its project comes before it. */
const invocationInProject = createRoute({
  getParentRoute: () => root,
  path: "/in/$project/$id",
  beforeLoad: ({ params: { id, project } }) => {
    throw redirect({ to: "/invocations/$id", params: { id }, search: { project }, replace: true });
  },
});

const target = createRoute({
  getParentRoute: () => root,
  path: "/targets",
  validateSearch: (search) => TargetSearch.parse(search),
  loaderDeps: ({ search }) => search,
  loader: async ({ deps }) => {
    const { targetHistoryQuery } = await import("./pages/target/load.ts");
    await queryClient.ensureQueryData(targetHistoryQuery(deps));
  },
  component: lazyRouteComponent(() => import("./pages/target/page.tsx"), "TargetPage"),
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

/** Invocations of build tools, and how to connect the tools to the farm. */
export const buildToolsRoutes = [
  invocations,
  invocation,
  invocationInProject,
  target,
  execution,
  connect,
] as const;
