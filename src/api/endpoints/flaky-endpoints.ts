import { z } from "zod";
import { rightOnListed } from "#core/right.ts";
import { endpoint, json } from "../endpoint.ts";
import { FlakyEntries } from "../flaky.ts";

/** Actions with different outcomes. */
export const flakyEndpoints = {
  flaky: endpoint({
    method: "GET",
    path: "/flaky",
    right: rightOnListed("read"),
    mayLag: true,
    summary:
      "Jobs, and actions of build tools, of which the same action (inputs, command and platform) both succeeded and failed in the last `days`: how often, with a confidence interval, and the last failures. At most the latest 200,000 runs and 1,000 invocations are read, and 200 entries are answered.",
    query: z.object({
      repository: z.string().optional(),
      days: z.coerce.number().int().min(1).max(90).default(14),
    }),
    limit: "searches",
    answer: json(FlakyEntries),
  }),
} as const;
