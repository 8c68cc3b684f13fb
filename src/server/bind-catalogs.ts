import { listBranches, setBranch, showBranch } from "#graphs/catalogs/branches.ts";
import { diffCatalogs } from "#graphs/catalogs/diff-catalogs.ts";
import { findCatalog } from "#graphs/catalogs/graph-definitions.ts";
import { previewGraph } from "#graphs/catalogs/preview-graph.ts";
import { pushCatalog } from "#graphs/catalogs/push-catalog.ts";
import { catalogSummaries } from "#graphs/catalogs/template-catalog.store.ts";
import { found } from "./handlers/found.ts";
import type { CatalogFarm } from "./http/catalog-farm.ts";
import { requireMayPreview } from "./may-preview.ts";
import type { Services } from "./services.ts";

export function bindCatalogs(services: Services): CatalogFarm {
  const { db, cache } = services;
  return {
    pushCatalog: (request, by) => pushCatalog(services, request, by),
    catalogs: (limit) => catalogSummaries(db, { limit }),
    async catalog(written) {
      const { digest, holds } = await findCatalog(db, written);
      const [summary] = await catalogSummaries(db, { digest });
      const { entries } = await cache.get(db, digest);
      return { ...found(summary, `catalog ${written}`), holds, entries: [...entries] };
    },
    catalogDiff: (a, b, repository, by) => diffCatalogs(services, a, b, repository, by),
    previewGraph(request, by) {
      requireMayPreview(by, request);
      return previewGraph(services, request, by);
    },
    branches: (repository, by) => listBranches(services, repository, by),
    branch: (repository, branch, by) => showBranch(services, repository, branch, by),
    setBranch: (repository, branch, request, by) =>
      setBranch(services, repository, branch, request, by),
  };
}
