import { queryOptions } from "@tanstack/react-query";
import { accessEndpoints } from "#api/endpoints/access-endpoints.ts";
import { invocationEndpoints } from "#api/endpoints/invocation-endpoints.ts";
import { projectEndpoints } from "#api/endpoints/project-endpoints.ts";
import { call } from "../../farm/ask.ts";
import type { Recipe } from "./recipe.ts";

/** Whoever sets up a tool looks here whether it arrived. */
const refetchMs = 3_000;

/** What somebody may do who sends no token, as this page does. */
export const callerQuery = queryOptions({
  queryKey: ["caller"],
  queryFn: ({ signal }) => call(accessEndpoints.caller, {}, signal),
});

/** By what a tool is seen that is seen at all. */
export type Seen = Exclude<Recipe["seen"], { readonly nowhere: true }>;

/** When a tool was last heard of in a project; null when it never was. */
export const lastSeenQuery = (project: string, seen: Seen) =>
  queryOptions({
    queryKey: ["last-seen", project, JSON.stringify(seen)],
    queryFn: ({ signal }) =>
      "cache" in seen
        ? lastUsed(project, seen.cache, signal)
        : lastInvoked(project, seen.invocationsOf, signal),
    refetchInterval: refetchMs,
  });

async function lastUsed(project: string, tool: string, signal: AbortSignal) {
  const { caches } = await call(projectEndpoints.toolCaches, {}, signal);
  const cache = caches.find((each) => each.project === project && each.tool === tool);
  return cache?.lastUsedAt ?? null;
}

async function lastInvoked(project: string, tool: string, signal: AbortSignal) {
  const query = { project, limit: 50 };
  const { invocations } = await call(invocationEndpoints.invocations, { query }, signal);
  const found = invocations.find(({ tool: { name } }) => name.toLowerCase().startsWith(tool));
  return found?.endedAt ?? null;
}
