import { z } from "zod";
import type { JobKind } from "#api/graph.ts";
import { SwitchValues } from "#api/graph-choice.ts";
import { Chunks } from "./chunk-keys.ts";
import { Dummy } from "./dummy-keys.ts";
import { durationWithin } from "./duration.ts";
import { oneOrMany } from "./one-or-many.ts";
import { RelativePath } from "./relative-path.ts";

const dayMs = 24 * 3_600_000;

/** The keys that only some kinds of job have, besides those of a command. */
export const kindShape = {
  release: oneOrMany(z.string().min(1).max(256), "a name")
    .optional()
    .describe(
      "Of a breakpoint: who may release it; * matches any letters. Default: everyone with the grant.",
    ),
  patience: durationWithin(1_000, 30 * dayMs, "1s to 30d")
    .optional()
    .describe(
      "Of a breakpoint: how long it waits before it ends as on-expiry says. Default: without limit.",
    ),
  message: z
    .string()
    .max(16 * 1024, "a message has at most 16,384 characters")
    .optional()
    .describe("Of a breakpoint: what to check before its release. Of notify: the message."),
  at: z
    .string({ error: 'must be a time of day such as "19:00"' })
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as "19:00"')
    .optional()
    .describe('Of a timer: it ends at the next such time of day. Example: "19:00"'),
  timezone: z
    .string()
    .refine(isTimeZone, "must be the name of a time zone such as Europe/Berlin")
    .optional()
    .describe("Of a timer: the time zone. Default: UTC."),
  after: durationWithin(0, 30 * dayMs, "0s to 30d")
    .optional()
    .describe("Of a timer: the time from its ready state to its end."),
  to: oneOrMany(z.url({ protocol: /^https?$/, error: "must be an http(s) URL" }), "a URL")
    .refine((urls) => urls.length <= 20, "name at most 20 URLs")
    .optional()
    .describe(
      "Of notify: the URLs of the receivers. The server's configuration lists the allowed ones.",
    ),
  output: RelativePath.optional().describe(
    "Of a graph job: the file of definitions that its commands write. Default: .grange-graph.yml",
  ),
  definitions: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("Of a graph job without commands: the definitions of its graph."),
  catalog: z
    .string()
    .regex(/^[0-9a-f]{64}\/\d+$/, "must be the digest of a catalog")
    .optional()
    .describe("Of a graph job without commands: a catalog whose jobs are its graph."),
  graph: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe(
      "Of a graph job without commands: one of the graphs that these definitions name. It is its graph.",
    ),
  parameters: z
    .record(z.string(), z.json())
    .optional()
    .describe(
      "Of a graph job with graph: values of parameters. Omitted ones have the values of the graph that contains the job.",
    ),
  switches: SwitchValues.optional().describe(
    "Of a graph job with graph: values of switches. Omitted ones have the values of the graph that contains the job.",
  ),
  dummy: Dummy.optional().describe("Of a dummy job: its simulated runs."),
  chunks: Chunks.optional().describe(
    "Items that workers share: each runs a batch of them, then requests more.",
  ),
} as const;

const machine: readonly JobKind[] = ["command", "graph"];

/** The kinds that may have a restricted key. */
const kindsWith: Readonly<Record<string, readonly JobKind[]>> = {
  commands: machine,
  inputs: machine,
  "inputs-from": machine,
  "may-read": machine,
  environment: machine,
  limits: machine,
  timeout: machine,
  platform: machine,
  network: machine,
  image: machine,
  isolation: machine,
  services: machine,
  success: machine,
  failure: machine,
  errors: machine,
  sources: machine,
  submodules: machine,
  lfs: machine,
  secrets: machine,
  caches: machine,
  identity: machine,
  "working-directory": machine,
  outputs: [...machine, "dummy"],
  retries: [...machine, "dummy"],
  chunks: ["command"],
  coalesce: ["command"],
  outside: ["command"],
  release: ["breakpoint"],
  patience: ["breakpoint"],
  message: ["breakpoint", "notify"],
  at: ["timer"],
  timezone: ["timer"],
  after: ["timer"],
  to: ["notify"],
  output: ["graph"],
  definitions: ["graph"],
  catalog: ["graph"],
  graph: ["graph"],
  parameters: ["graph"],
  switches: ["graph"],
  dummy: ["dummy"],
};

/** The parts of a job that depend on its kind. */
type JobOfAKind = z.output<z.ZodObject<typeof kindShape>> & {
  readonly kind?: JobKind | undefined;
  readonly commands?: readonly string[] | undefined;
  readonly needs?: Readonly<Record<string, unknown>> | undefined;
  readonly outside?: boolean | undefined;
};

interface KindProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/** Returns the keys that a job of this kind cannot use, and those that it lacks. */
export function problemsOfKind(job: JobOfAKind): KindProblem[] {
  const kind = job.kind ?? "command";
  const found = Object.entries(job).flatMap(([key, value]): KindProblem[] => {
    const kinds = kindsWith[key];
    if (value === undefined || kinds === undefined || kinds.includes(kind)) return [];
    return [{ path: [key], message: needlessKey(kind, key, kinds) }];
  });
  for (const key of ["parameters", "switches"] as const) {
    if (kind !== "graph" || job[key] === undefined || job.graph !== undefined) continue;
    const message = `"${key}" are given to a graph by its name: add "graph", or remove this`;
    found.push({ path: [key], message });
  }
  const lacking = missingOf(kind, job);
  if (lacking !== undefined) found.push({ path: [], message: lacking });
  const from = job.chunks?.from?.job;
  if (from !== undefined && job.needs?.[from] === undefined) {
    const message = `the items come from job "${from}", which must be among the needs`;
    found.push({ path: ["chunks", "from", "job"], message });
  }
  return found;
}

function needlessKey(kind: JobKind, key: string, kinds: readonly JobKind[]): string {
  if (kind === "join") return "a join job runs nothing: remove this, or the kind";
  return `a ${kind} job has no "${key}" (${kinds.join(" and ")} jobs have): remove this, or change the kind`;
}

function missingOf(kind: JobKind, job: JobOfAKind): string | undefined {
  const commands = (job.commands ?? []).length > 0;
  switch (kind) {
    case "command":
      return commands || job.outside === true
        ? undefined
        : 'a job needs "commands" (or "kind: join", when it only gathers other jobs)';
    case "graph":
      return [commands, job.definitions, job.catalog, job.graph].filter(
        (source) => source !== undefined && source !== false,
      ).length === 1
        ? undefined
        : 'a graph job needs one of "commands" (which write definitions), "definitions", "catalog" and "graph"';
    case "timer":
      return (job.at === undefined) !== (job.after === undefined)
        ? undefined
        : 'a timer needs one of "at" (a time of day) and "after" (a duration)';
    case "notify":
      return (job.to ?? []).length > 0
        ? undefined
        : 'a notify job needs "to": the URLs of the receivers';
    case "join":
    case "breakpoint":
    case "dummy":
      return undefined;
  }
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
