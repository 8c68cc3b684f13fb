import { z } from "zod";
import { Branch, type SetBranch } from "#api/branch.ts";
import {
  CatalogDetail,
  CatalogDiff,
  CatalogSummary,
  type PushCatalog,
  PushedCatalog,
} from "#api/catalog.ts";
import { GraphPreview, type PreviewGraph } from "#api/preview.ts";
import type { ApiClient } from "./api-client.ts";

export function catalogCalls(api: ApiClient) {
  return {
    push: (request: PushCatalog) => api.post(PushedCatalog, "/catalogs", request),
    list: (limit: number) => api.get(z.array(CatalogSummary), `/catalogs?limit=${limit}`),
    show: (digest: string) => api.get(CatalogDetail, `/catalogs/${encodeURIComponent(digest)}`),
    diff: (a: string, b: string, repository: string | undefined) => {
      const query = new URLSearchParams({ a, b, ...(repository && { repository }) });
      return api.get(CatalogDiff, `/catalogs/diff?${query.toString()}`);
    },
    preview: (request: PreviewGraph) => api.post(GraphPreview, "/graphs/preview", request),
  };
}

export function branchCalls(api: ApiClient) {
  const path = (repository: string, branch?: string) => {
    const branches = `/repositories/${encodeURIComponent(repository)}/branches`;
    return branch === undefined ? branches : `${branches}/${encodeURIComponent(branch)}`;
  };
  return {
    list: (repository: string) => api.get(z.array(Branch), path(repository)),
    show: (repository: string, branch: string) => api.get(Branch, path(repository, branch)),
    set: (repository: string, branch: string, request: SetBranch) =>
      api.put(Branch, path(repository, branch), request),
  };
}
