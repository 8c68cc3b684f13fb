import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { sizeClassEndpoints } from "#api/endpoints/size-class-endpoints.ts";
import type { SetSizeClassSettings } from "#api/size-class.ts";
import { call } from "../../farm/ask.ts";

/** No stream tells of load; while the page is looked at, it asks again so often. */
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

/** Keys by what they cost lately, page by page. */
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
    // What was found stays while letters are typed.
    placeholderData: (before) => before,
  });
