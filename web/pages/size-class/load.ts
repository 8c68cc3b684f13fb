import { queryOptions } from "@tanstack/react-query";
import { SizeClassDetail } from "#api/size-class.ts";
import { ask } from "../../farm/ask.ts";

/** No stream tells of load; while the page is looked at, it asks again so often. */
const refetchMs = 5_000;

export const sizeClassQuery = (sizeClass: string, platform: string | undefined) =>
  queryOptions({
    queryKey: ["size-class", sizeClass, platform ?? ""],
    queryFn: ({ signal }) => {
      const search = platform === undefined ? "" : `?${new URLSearchParams({ platform })}`;
      const path = `/size-classes/${encodeURIComponent(sizeClass)}${search}`;
      return ask(SizeClassDetail, path, { signal });
    },
    refetchInterval: refetchMs,
  });
