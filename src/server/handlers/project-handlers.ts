import { mayDo } from "#access/require-grant.ts";
import type { projectEndpoints } from "#api/endpoints/project-endpoints.ts";
import { cacheTotals } from "#caches/cache-entry.store.ts";
import { listCaches } from "#caches/list-caches.ts";
import { cachedFor } from "#core/cached-for.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { projectRemoval } from "../remove-projects.ts";
import type { HandlerServices } from "./handler-services.ts";

/** An answer counts all entries, and pages request it every second. In ms. */
const countedForMs = 5_000;

export function projectHandlers(services: HandlerServices): HandlersFor<typeof projectEndpoints> {
  const { db, caches, clock } = services;
  const removal = projectRemoval(services);
  const totals = cachedFor(
    countedForMs,
    () => clock.now().getTime(),
    () => cacheTotals(db),
  );

  return {
    projects: () => removal.projects(),
    removeProjects: ({ body, caller }) => removal.removeProjects(body, caller),
    async toolCaches({ caller }) {
      const mayRead = ({ project }: { readonly project: string }) =>
        mayDo(caller, "read", { repository: project, branch: "" });
      return { caches: listCaches(await totals(), caches.counter.all()).filter(mayRead) };
    },
  };
}
