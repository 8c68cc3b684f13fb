import { queryOptions } from "@tanstack/react-query";
import { SizeClassKeyDetail } from "#api/size-class.ts";
import { ask } from "../../farm/ask.ts";
import type { SizeClassKeySearch } from "./search.ts";

/** Builds end every few seconds at most; while the page is looked at, it asks again so often. */
const refetchMs = 10_000;

export const sizeClassKeyQuery = (key: string, { project, domain }: SizeClassKeySearch) =>
  queryOptions({
    queryKey: ["size-class-key", project ?? "", domain ?? "", key],
    queryFn: ({ signal }) => {
      const search = new URLSearchParams({ project: project ?? "default" });
      if (domain !== undefined) search.set("domain", domain);
      return ask(SizeClassKeyDetail, `/size-class-keys/${encodeURIComponent(key)}?${search}`, {
        signal,
      });
    },
    refetchInterval: refetchMs,
  });
