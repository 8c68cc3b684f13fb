import type { z } from "zod";
import type { Principal } from "#access/principal.ts";
import type { Branch, SetBranch } from "#api/branch.ts";
import type {
  CatalogDetail,
  CatalogDiff,
  CatalogSummary,
  PushCatalog,
  PushedCatalog,
} from "#api/catalog.ts";
import type { GraphPreview, PreviewGraph } from "#api/preview.ts";

/** Definitions that are kept, branches that use them, and graphs that could be made of them. */
export interface CatalogFarm {
  pushCatalog(request: PushCatalog, by: Principal): Promise<PushedCatalog>;
  /** The newest first. */
  catalogs(limit: number): Promise<CatalogSummary[]>;
  /** Takes a digest, or its beginning. */
  catalog(written: string): Promise<CatalogDetail>;
  /** Each side is a digest, a branch or a revision. */
  catalogDiff(
    a: string,
    b: string,
    repository: string | undefined,
    by: Principal,
  ): Promise<CatalogDiff>;
  previewGraph(request: PreviewGraph, by: Principal): Promise<GraphPreview>;
  /** Takes a repository's name or address; `*` stands for all branches. */
  branches(repository: string, by: Principal): Promise<Branch[]>;
  branch(repository: string, branch: string, by: Principal): Promise<Branch>;
  setBranch(
    repository: string,
    branch: string,
    request: z.output<typeof SetBranch>,
    by: Principal,
  ): Promise<Branch>;
}
