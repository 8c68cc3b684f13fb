import { queryOptions } from "@tanstack/react-query";
import { sizeClassEndpoints } from "#api/endpoints/size-class-endpoints.ts";
import { call } from "../../farm/ask.ts";

/** No stream reports load; while the page is visible, it refreshes this often. */
const refetchMs = 5_000;

export const sizeClassQuery = (sizeClass: string, platform: string | undefined) =>
  queryOptions({
    queryKey: ["size-class", sizeClass, platform ?? ""],
    queryFn: ({ signal }) =>
      call(sizeClassEndpoints.sizeClass, { params: { sizeClass }, query: { platform } }, signal),
    refetchInterval: refetchMs,
  });
