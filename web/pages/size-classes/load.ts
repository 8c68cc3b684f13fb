import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import {
  type SetSizeClassSettings,
  SizeClasses,
  SizeClassKeys,
  SizeClassSettingsNow,
} from "#api/size-class.ts";
import { ask, tell } from "../../farm/ask.ts";

/** No stream tells of load; while the page is looked at, it asks again so often. */
const refetchMs = 5_000;
const pageSize = 25;

export const sizeClassesQuery = queryOptions({
  queryKey: ["size-classes"],
  queryFn: ({ signal }) => ask(SizeClasses, "/size-classes", { signal }),
  refetchInterval: refetchMs,
});

export const sizeClassSettingsQuery = queryOptions({
  queryKey: ["size-class-settings"],
  queryFn: ({ signal }) => ask(SizeClassSettingsNow, "/size-classes/settings", { signal }),
});

export const setSizeClassSettings = (change: SetSizeClassSettings) =>
  tell(SizeClassSettingsNow, "/size-classes/settings", change, "PUT");

/** Keys by what they cost lately, page by page. */
export const sizeClassKeysQuery = (find: string) =>
  infiniteQueryOptions({
    queryKey: ["size-class-keys", find],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const search = new URLSearchParams({ limit: String(pageSize) });
      if (find !== "") search.set("text", find);
      if (pageParam !== undefined) search.set("before", pageParam);
      return ask(SizeClassKeys, `/size-class-keys?${search}`, { signal });
    },
    getNextPageParam: (last) => last.next ?? undefined,
    // What was found stays while letters are typed.
    placeholderData: (before) => before,
  });
