import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { sizeClassEndpoints } from "#api/endpoints/size-class-endpoints.ts";
import type { SetSizeClassSettings } from "#api/size-class.ts";
import { call } from "../../farm/ask.ts";

/** No stream reports load; while the page is visible, it refreshes this often. */
const refetchMs = 5_000;
const pageSize = 25;

export const sizeClassesQuery = queryOptions({
  queryKey: ["size-classes"],
  queryFn: ({ signal }) => call(sizeClassEndpoints.sizeClasses, {}, signal),
  refetchInterval: refetchMs,
});

export const sizeClassSettingsQuery = queryOptions({
  queryKey: ["size-class-settings"],
  queryFn: ({ signal }) => call(sizeClassEndpoints.sizeClassSettings, {}, signal),
});

export const setSizeClassSettings = (change: SetSizeClassSettings) =>
  call(sizeClassEndpoints.setSizeClassSettings, { body: change });

/** Keys by their recent cost, page by page. */
export const sizeClassKeysQuery = (find: string) =>
  infiniteQueryOptions({
    queryKey: ["size-class-keys", find],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const text = find === "" ? undefined : find;
      const query = { text, before: pageParam, limit: pageSize };
      return call(sizeClassEndpoints.sizeClassKeys, { query }, signal);
    },
    getNextPageParam: (last) => last.next ?? undefined,
    // The found keys stay visible while the user types.
    placeholderData: (before) => before,
  });
