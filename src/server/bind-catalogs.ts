import { listBranches, setBranch, showBranch } from "#graphs/catalogs/branches.ts";
import { diffCatalogs } from "#graphs/catalogs/diff-catalogs.ts";
import { findCatalog } from "#graphs/catalogs/graph-definitions.ts";
import { previewGraph } from "#graphs/catalogs/preview-graph.ts";
import { pushCatalog } from "#graphs/catalogs/push-catalog.ts";
import { catalogSummaries } from "#graphs/catalogs/template-catalog.store.ts";
import type { CatalogFarm } from "./http/catalog-farm.ts";
import { found } from "./http/found.ts";
import { requireMayPreview } from "./may-preview.ts";
import type { Rooms } from "./rooms.ts";

export function bindCatalogs(rooms: Rooms): CatalogFarm {
  const { db, shelf } = rooms;
  return {
    pushCatalog: (request, by) => pushCatalog(rooms, request, by),
    catalogs: (limit) => catalogSummaries(db, { limit }),
    async catalog(written) {
      const { digest, holds } = await findCatalog(db, written);
      const [summary] = await catalogSummaries(db, { digest });
      const { entries } = await shelf.get(db, digest);
      return { ...found(summary, `catalog ${written}`), holds, entries: [...entries] };
    },
    catalogDiff: (a, b, repository, by) => diffCatalogs(rooms, a, b, repository, by),
    previewGraph(request, by) {
      requireMayPreview(by, request);
      return previewGraph(rooms, request, by);
    },
    branches: (repository, by) => listBranches(rooms, repository, by),
    branch: (repository, branch, by) => showBranch(rooms, repository, branch, by),
    setBranch: (repository, branch, request, by) =>
      setBranch(rooms, repository, branch, request, by),
  };
}
