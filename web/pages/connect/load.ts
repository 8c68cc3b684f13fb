import { queryOptions } from "@tanstack/react-query";
import { accessEndpoints } from "#api/endpoints/access-endpoints.ts";
import { invocationEndpoints } from "#api/endpoints/invocation-endpoints.ts";
import { projectEndpoints } from "#api/endpoints/project-endpoints.ts";
import { call } from "../../farm/ask.ts";
import type { Recipe } from "./recipe.ts";

/** A user who sets up a tool watches here whether it has connected. */
const refetchMs = 3_000;

/** The rights of a caller without a token, such as this page. */
export const callerQuery = queryOptions({
  queryKey: ["caller"],
  queryFn: ({ signal }) => call(accessEndpoints.caller, {}, signal),
});

/** How a tool is detected, for tools that can be detected. */
export type Seen = Exclude<Recipe["seen"], { readonly nowhere: true }>;

/** When a tool was last seen in a project; null when it never was. */
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
