import { z } from "zod";
import { rightAt, rightOnListed } from "#core/right.ts";
import { ActionDifferences } from "../action-comparison.ts";
import { CacheUseAnswer } from "../cache-use.ts";
import { endpoint, json } from "../endpoint.ts";
import { StoreContents } from "../store-contents.ts";

const actionDigest = z
  .string()
  .max(300)
  .regex(
    /^[a-z0-9-]+\/[0-9]{1,16}$/,
    "an action is named HASH/SIZE, as the page of an execution shows it",
  );

/** How well the cache works, what it holds, and why two actions are not the same. */
export const cacheEndpoints = {
  cacheUse: endpoint({
    method: "GET",
    path: "/caches/use",
    right: rightOnListed("read"),
    mayLag: true,
    summary:
      "Hits and misses of the last `days`, in periods of an hour (one day) or of a day in UTC: of actions of build tools, jobs, granaries and HTTP caches, by project (jobs: by repository). At most the latest 200,000 runs of jobs are read, and 200 series are answered.",
    query: z.object({ days: z.coerce.number().int().min(1).max(90).default(7) }),
    limit: "searches",
    answer: json(CacheUseAnswer),
  }),
  storeContents: endpoint({
    method: "GET",
    path: "/store/contents",
    right: rightOnListed("read"),
    summary:
      "The blobs of each project by their last use, and at most 100 blobs that eviction removes next, as of the last count of the store. `farm`, with the limit, is null without `read` for the whole farm; so is what belongs to a project whose name is not known.",
    answer: json(StoreContents),
  }),
  actionComparison: endpoint({
    method: "GET",
    path: "/actions/comparison",
    right: rightAt("project", "read"),
    summary:
      "How two actions of a project differ: arguments, variables, platform, and input files by path, at most 200 of each. `before` and `after` are digests of actions, `HASH/SIZE`.",
    query: z.object({
      project: z.string().max(128).default(""),
      before: actionDigest,
      after: actionDigest,
    }),
    limit: "searches",
    answer: json(ActionDifferences.meta({ id: "ActionDifferences" })),
  }),
} as const;
