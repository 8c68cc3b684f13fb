import { queryOptions } from "@tanstack/react-query";
import { CatalogDiff } from "#api/catalog.ts";
import { ask } from "../../farm/ask.ts";
import type { CatalogDiffSearch } from "./search.ts";

export const catalogDiffQuery = ({ repository = "", a = "", b = "" }: CatalogDiffSearch) => {
  const sides = new URLSearchParams({ a, b, ...(repository === "" ? {} : { repository }) });
  return queryOptions({
    queryKey: ["catalog diff", repository, a, b],
    queryFn: ({ signal }) => ask(CatalogDiff, `/catalogs/diff?${sides}`, { signal }),
    enabled: a !== "" && b !== "",
    retry: false,
  });
};
