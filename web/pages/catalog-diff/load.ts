import { queryOptions } from "@tanstack/react-query";
import { CatalogDiff } from "#api/catalog.ts";
import { ask } from "../../farm/ask.ts";
import type { CatalogDiffSearch } from "./search.ts";

export const catalogDiffQuery = ({ a = "", b = "" }: CatalogDiffSearch) => {
  const sides = new URLSearchParams({ a, b });
  return queryOptions({
    queryKey: ["catalog diff", a, b],
    queryFn: ({ signal }) => ask(CatalogDiff, `/catalogs/diff?${sides}`, { signal }),
    enabled: a !== "" && b !== "",
    retry: false,
  });
};
