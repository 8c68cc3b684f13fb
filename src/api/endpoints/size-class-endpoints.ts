import { z } from "zod";
import { rightAt, rightOnFarm } from "#core/right.ts";
import { bytes, endpoint, json } from "../endpoint.ts";
import {
  ExecutionSizeClass,
  SetSizeClassSettings,
  SizeClassDetail,
  SizeClasses,
  SizeClassKeyDetail,
  SizeClassKeys,
  SizeClassSettingsNow,
} from "../size-class.ts";

const longestName = 1_024;

/** The existing size classes, the choices with their reasons, and the rules of choice. */
export const sizeClassEndpoints = {
  executionSizeClass: endpoint({
    method: "GET",
    path: "/executions/:execution/size-class",
    right: rightAt("execution", "read"),
    summary:
      "Why an execution runs on its size class: each decision with what was known, the alternatives with estimated cost and risk, the reason, and the attempts that followed. `sentences` state it in plain words. If there was no choice, `sentence` gives the reason.",
    params: z.object({
      execution: z.uuid({ error: "this is not the id of an execution, which is a UUID" }),
    }),
    answer: json(ExecutionSizeClass),
  }),
  sizeClasses: endpoint({
    method: "GET",
    path: "/size-classes",
    right: rightOnFarm("read"),
    summary:
      "By platform, each class with workers, slots, queue, expected wait, CPUs, memory and price; and of the last 24 hours runs, seconds, cost, and the estimated savings. `lately.isCut`: more executions ended than are read, so the figures are of the latest 50,000, since `lately.since`. Figures of the past are up to a minute old.",
    answer: json(SizeClasses),
  }),
  sizeClass: endpoint({
    method: "GET",
    path: "/size-classes/:sizeClass",
    right: rightOnFarm("read"),
    summary:
      "One class, hour by hour, with the keys that cost most there. 400 if several platforms have it and there is no `platform`.",
    params: z.object({
      sizeClass: z.string().regex(/^[0-9]{1,7}$/, { error: "a size class is a number" }),
    }),
    query: z.object({
      platform: z
        .string()
        .max(4 * longestName)
        .optional(),
    }),
    answer: json(SizeClassDetail),
  }),
  sizeClassSettings: endpoint({
    method: "GET",
    path: "/size-classes/settings",
    right: rightOnFarm("read"),
    summary: "How classes are chosen, and the defaults.",
    answer: json(SizeClassSettingsNow),
  }),
  setSizeClassSettings: endpoint({
    method: "PUT",
    path: "/size-classes/settings",
    right: rightOnFarm("administer"),
    summary: "Omitted keys are not changed; null sets the default.",
    body: SetSizeClassSettings,
    answer: json(SizeClassSettingsNow),
  }),
  sizeClassTrace: endpoint({
    method: "GET",
    path: "/size-classes/trace",
    right: rightOnFarm("read"),
    summary:
      "Executions of the last `since` (`7d`, at most `366d`), as a [trace](size-class-traces.md): a stream of JSON lines, in the order in which executions ended.",
    query: z.object({ since: z.string().max(100).default("7d") }),
    answer: bytes("application/jsonl"),
  }),
  sizeClassKeys: endpoint({
    method: "GET",
    path: "/size-class-keys",
    right: rightOnFarm("read"),
    summary:
      "Keys under which executions are recorded, ordered by recent cost. `text` is a part of the title or a prefix of the key; `before` is the `next` of the previous page; `limit` defaults to 50, at most 200.",
    query: z.object({
      text: z.string().max(200).optional(),
      before: z
        .string()
        .max(4 * longestName)
        .optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
    }),
    answer: json(SizeClassKeys),
  }),
  sizeClassKey: endpoint({
    method: "GET",
    path: "/size-class-keys/:key",
    right: rightOnFarm("read"),
    summary:
      "The last 32 runs on each class, the estimates, and the last 20 decisions. `project` defaults to `default`, `domain` to the trust domain in which the key was seen last.",
    query: z.object({
      project: z.string().max(longestName).default("default"),
      domain: z.string().max(longestName).optional(),
    }),
    answer: json(SizeClassKeyDetail),
  }),
} as const;
