import type { catalogEndpoints } from "#api/endpoints/catalog-endpoints.ts";
import { listBranches, setBranch, showBranch } from "#graphs/catalogs/branches.ts";
import { diffCatalogs } from "#graphs/catalogs/diff-catalogs.ts";
import { findCatalog } from "#graphs/catalogs/graph-definitions.ts";
import { previewGraph } from "#graphs/catalogs/preview-graph.ts";
import { pushCatalog } from "#graphs/catalogs/push-catalog.ts";
import { catalogSummaries } from "#graphs/catalogs/template-catalog.store.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { requireMayPreview } from "../may-preview.ts";
import { found } from "./found.ts";
import type { HandlerServices } from "./handler-services.ts";

export function catalogHandlers(services: HandlerServices): HandlersFor<typeof catalogEndpoints> {
  const { db, cache } = services;
  return {
    catalogs: ({ query: { limit } }) => catalogSummaries(db, { limit }),
    async pushCatalog({ body, caller }) {
      const pushed = await pushCatalog(services, body, caller);
      return { isNew: pushed.isNew, answer: pushed };
    },
    // A digest is `<hash>/<size>`; either the slash is escaped, or the size is left out.
    async catalog({ params }) {
      const { digest, holds } = await findCatalog(db, params.digest);
      const [summary] = await catalogSummaries(db, { digest });
      const { entries } = await cache.get(db, digest);
      return { ...found(summary, `catalog ${params.digest}`), holds, entries };
    },
    diffCatalogs: ({ query: { a, b, repository }, caller }) =>
      diffCatalogs(services, a, b, repository, caller),
    previewGraph({ body, caller }) {
      requireMayPreview(caller, body);
      return previewGraph(services, body, caller);
    },
    branches: ({ params, caller }) => listBranches(services, params.repository, caller),
    branch: ({ params, caller }) => showBranch(services, params.repository, params.branch, caller),
    setBranch: ({ params, body, caller }) =>
      setBranch(services, params.repository, params.branch, body, caller),
  };
}
