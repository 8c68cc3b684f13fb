import { placesOf } from "#access/places-of.ts";
import type { Principal } from "#access/principal.ts";
import { requireGrantSomewhere } from "#access/require-grant.ts";
import type { catalogEndpoints } from "#api/endpoints/catalog-endpoints.ts";
import type { PreviewGraph } from "#api/preview.ts";
import { listBranches, setBranch, showBranch } from "#graphs/catalogs/branches.ts";
import { diffCatalogs } from "#graphs/catalogs/diff-catalogs.ts";
import { findCatalog } from "#graphs/catalogs/graph-definitions.ts";
import { previewGraph } from "#graphs/catalogs/preview-graph.ts";
import { pushCatalog } from "#graphs/catalogs/push-catalog.ts";
import { catalogSummaries } from "#graphs/catalogs/template-catalog.store.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { found } from "./found.ts";
import type { HandlerServices } from "./handler-services.ts";

const mostBytesOfStrangers = 16 * 1024;

export function catalogHandlers(services: HandlerServices): HandlersFor<typeof catalogEndpoints> {
  const { db, cache } = services;
  return {
    catalogs: ({ query: { limit }, caller }) =>
      catalogSummaries(db, { limit, places: placesOf(caller, ["read-sources"]) }),
    async pushCatalog({ body, caller }) {
      const pushed = await pushCatalog(services, body, caller);
      return { isNew: pushed.isNew, answer: pushed };
    },
    // A digest is `<hash>/<size>`; either the slash is escaped, or the size is left out.
    async catalog({ params, caller }) {
      const places = placesOf(caller, ["read-sources"]);
      const { digest, holds } = await findCatalog(db, params.digest, places);
      const [summary] = await catalogSummaries(db, { digest, places });
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

/**
 * Checks the rights for a preview that does more than read the farm's data: throws `permission_denied`.
 *
 * As at submission: a caller without the right to submit cannot make the farm fetch anything, and one without the right
 * to define cannot read a directory of its machine. Sent definitions are parsed without a pause, at about 4 µs for each
 * byte in the worst case, so a caller without the right to submit may send only a few.
 */
function requireMayPreview(
  by: Principal,
  { rev, definitionsFrom, definitions }: PreviewGraph,
): void {
  if (definitionsFrom?.kind === "directory") requireGrantSomewhere(by, "define");
  if (rev !== undefined || definitionsFrom?.kind === "repository")
    requireGrantSomewhere(by, "submit");
  const sizes = Object.values(definitions ?? {}).map((text) => Buffer.byteLength(text));
  if (sizes.reduce((sum, size) => sum + size, 0) > mostBytesOfStrangers)
    requireGrantSomewhere(by, "submit");
}
