import { z } from "zod";
import { rightAt, rightOnListed, rightSomewhere } from "#core/right.ts";
import { Branch, SetBranch } from "../branch.ts";
import {
  CatalogDetail,
  CatalogDiff,
  CatalogSummary,
  PushCatalog,
  PushedCatalog,
} from "../catalog.ts";
import { createdWhenNew, endpoint, json } from "../endpoint.ts";
import { GraphPreview, PreviewGraph } from "../preview.ts";
import { definitionsAlong } from "./graph-endpoints.ts";

/** Catalogs of definitions, branches that use them, and previews of graphs. */
export const catalogEndpoints = {
  catalogs: endpoint({
    method: "GET",
    path: "/catalogs",
    right: rightOnListed("read-sources"),
    summary: "Newest first, at most 200.",
    query: z.object({ limit: z.coerce.number().int().min(1).max(200).default(50) }),
    answer: json(z.array(CatalogSummary)),
  }),
  pushCatalog: endpoint({
    method: "POST",
    path: "/catalogs",
    right: rightSomewhere("define"),
    summary: "Stores definitions; with `branch`, that branch points to them.",
    body: PushCatalog,
    largeBody: { bytes: 48 * 1024 * 1024, verb: "define" },
    limit: "uploads",
    answer: createdWhenNew(PushedCatalog),
  }),
  catalog: endpoint({
    method: "GET",
    path: "/catalogs/:digest",
    right: rightOnListed("read-sources"),
    summary:
      "A prefix of the digest is enough. Both digests of a graph are known: `templates` (its definitions as written) and `catalog` (`holds: jobs`, the jobs that they became).",
    answer: json(CatalogDetail),
  }),
  diffCatalogs: endpoint({
    method: "GET",
    path: "/catalogs/diff",
    right: rightOnListed("read-sources"),
    summary:
      "Each side is a digest, a branch or a revision, of another repository as `REPOSITORY@REVISION`; a revision, which has to be fetched, needs `submit`. A branch means the definitions of its next submission, from whatever source. Jobs that an expression creates are compared with the values of the branch.",
    query: z.object({
      a: z.string().min(1).max(5_000),
      b: z.string().min(1).max(5_000),
      repository: z.string().max(4_096).optional(),
    }),
    limit: "searches",
    answer: json(CatalogDiff),
  }),
  previewGraph: endpoint({
    method: "POST",
    path: "/graphs/preview",
    right: rightOnListed("read-sources"),
    summary:
      "A preview of a graph: its jobs and edges, with expected times and known results; `patches` as in a submission. Stores only the definitions that it reads, under their digest. A revision or another repository needs `submit` somewhere, a directory needs `define`.",
    body: PreviewGraph,
    largeBody: definitionsAlong,
    limit: "searches",
    answer: json(GraphPreview),
  }),
  branches: endpoint({
    method: "GET",
    path: "/repositories/:repository/branches",
    right: rightAt("repository", "read-sources"),
    summary: "`*` (all branches) first. REPOSITORY may be an escaped path or URL.",
    answer: json(z.array(Branch)),
  }),
  branch: endpoint({
    method: "GET",
    path: "/repositories/:repository/branches/:branch",
    right: rightAt("repository", "read-sources"),
    summary:
      "The settings of the branch, the resulting settings, and every change. `next` are the definitions of the next submission (`catalog`, `commit`, or a `problem`), `catalog` the last used or pushed ones.",
    answer: json(Branch),
  }),
  setBranch: endpoint({
    method: "PUT",
    path: "/repositories/:repository/branches/:branch",
    right: rightSomewhere("define"),
    summary: "With `after`, 409 if somebody has changed it since.",
    body: SetBranch,
    answer: json(Branch),
  }),
} as const;
