import { queryOptions } from "@tanstack/react-query";
import { sizeClassEndpoints } from "#api/endpoints/size-class-endpoints.ts";
import { call } from "../../farm/ask.ts";
import type { SizeClassKeySearch } from "./search.ts";

/** Builds rarely end more often than every few seconds; while the page is visible, it refreshes this often. */
const refetchMs = 10_000;

export const sizeClassKeyQuery = (key: string, { project, domain }: SizeClassKeySearch) =>
  queryOptions({
    queryKey: ["size-class-key", project ?? "", domain ?? "", key],
    queryFn: ({ signal }) =>
      call(
        sizeClassEndpoints.sizeClassKey,
        { params: { key }, query: { project, domain } },
        signal,
      ),
    refetchInterval: refetchMs,
  });
