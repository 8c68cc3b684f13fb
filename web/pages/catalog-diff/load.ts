import { queryOptions } from "@tanstack/react-query";
import { z } from "zod";
import { CatalogDiff } from "#api/catalog.ts";
import { ask } from "../../farm/ask.ts";

/** Two sides: a digest, REPOSITORY@BRANCH, or a revision. */
export const CatalogDiffSearch = z.object({
  a: z.coerce.string().optional().catch(undefined),
  b: z.coerce.string().optional().catch(undefined),
});
export type CatalogDiffSearch = z.infer<typeof CatalogDiffSearch>;

export const catalogDiffQuery = ({ a = "", b = "" }: CatalogDiffSearch) => {
  const sides = new URLSearchParams({ a, b });
  return queryOptions({
    queryKey: ["catalog diff", a, b],
    queryFn: ({ signal }) => ask(CatalogDiff, `/catalogs/diff?${sides}`, { signal }),
    enabled: a !== "" && b !== "",
    retry: false,
  });
};
