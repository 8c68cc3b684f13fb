import { queryOptions } from "@tanstack/react-query";
import { catalogEndpoints } from "#api/endpoints/catalog-endpoints.ts";
import { call } from "../../farm/ask.ts";
import type { CatalogDiffSearch } from "./search.ts";

export const catalogDiffQuery = ({ repository = "", a = "", b = "" }: CatalogDiffSearch) => {
  const sides = { a, b, ...(repository === "" ? {} : { repository }) };
  return queryOptions({
    queryKey: ["catalog diff", repository, a, b],
    queryFn: ({ signal }) => call(catalogEndpoints.diffCatalogs, { query: sides }, signal),
    enabled: a !== "" && b !== "",
    retry: false,
  });
};
