import { z } from "zod";
import { DiskCost, GranaryBuildReport } from "#api/granary.ts";

const Count = z.number().nonnegative();
/** The `id` of the answered message. */
const to = z.union([z.string(), z.number()]).optional();

const OutputFile = z.object({
  path: z.string(),
  /** A path in the granary's store. The file may be linked or copied, but must not be written. */
  file: z.string(),
  sizeBytes: Count,
  executable: z.boolean(),
});
export type OutputFile = z.infer<typeof OutputFile>;

const EndSummary = z.object({
  asked: Count,
  local: Count,
  prefetched: Count,
  fetched: Count,
  /** Results that did not exist and were made. */
  missed: Count,
  unreachable: Count,
  savedMs: Count,
  waitedMs: Count,
  transferredBytes: Count,
  wastedBytes: Count,
  uploadedBytes: Count,
  diskTrouble: DiskCost.optional(),
  /** Set when ready results were not requested and all results were made: the build's tools use other keys. */
  otherKeys: z.enum(["ccache", "other"]).optional(),
  /** Nothing was prefetched, because prefetched data were too often unused. */
  wasteful: z.boolean().optional(),
});
export type EndSummary = z.infer<typeof EndSummary>;

const OutboxAnswer = z.object({
  results: Count,
  indexes: Count,
  reports: Count,
  bytes: Count,
  trouble: z.string().optional(),
  /** Data that the farm has failed to accept repeatedly: tried each hour. */
  setAside: z
    .object({ results: Count, indexes: Count, reports: Count, because: z.string() })
    .optional(),
});

export const GranaryStatus = z.object({
  version: z.string(),
  pid: z.number(),
  port: z.number(),
  directory: z.string(),
  farm: z
    .object({
      server: z.string(),
      away: z.boolean(),
      because: z.string().optional(),
      roundTripMs: z.number().optional(),
      bytesPerSecond: z.number().optional(),
    })
    .nullable(),
  store: z.object({
    results: Count,
    blobs: Count,
    bytes: Count,
    /** The bytes on disk including dead data; absent from an older granary. */
    diskBytes: Count.optional(),
    limitBytes: Count,
    /** Since the granary was started. */
    diskTrouble: DiskCost.extend({ because: z.string(), lastAt: z.string() }).optional(),
  }),
  outbox: OutboxAnswer,
  builds: z.array(
    z.object({ id: z.string(), project: z.string(), command: z.string(), startedAt: z.string() }),
  ),
});
export type GranaryStatus = z.infer<typeof GranaryStatus>;

export const FetchAheadAnswer = z.object({
  indexes: z.array(
    z.object({ source: z.string(), commit: z.string(), distance: Count, entries: Count }),
  ),
  results: Count,
  bytes: Count,
});
export type FetchAheadAnswer = z.infer<typeof FetchAheadAnswer>;

/** An answer of the granary. Clients ignore unknown types. */
export const Answer = z.discriminatedUnion("type", [
  z.object({ type: z.literal("welcome"), to, version: z.number() }),
  z.object({ type: z.literal("no-common-version"), to, versions: z.array(z.number()) }),
  z.object({
    type: z.literal("build"),
    to,
    id: z.string(),
    project: z.string(),
    port: z.number(),
    /** The process id of the granary, passed to tools while it runs. */
    pid: z.number(),
    /** The address prefix for HTTP; a tool cache's path in the farm follows it. */
    http: z.string(),
    grpc: z.string(),
    /** Whether all expected results were present when this was sent. */
    ready: z.boolean(),
    /** The name of the build's environment. */
    environment: z.string().optional(),
    /** Variables that the build must set in addition to those of its tools. */
    settings: z.record(z.string(), z.string()).optional(),
  }),
  z.object({
    type: z.literal("found"),
    to,
    key: z.string(),
    outputs: z.array(OutputFile),
    costMs: Count.optional(),
  }),
  z.object({ type: z.literal("not-found"), to, key: z.string().optional() }),
  /** Keys that a result may have, the latest first. They are being fetched. */
  z.object({ type: z.literal("candidates"), to, approx: z.string(), keys: z.array(z.string()) }),
  z.object({ type: z.literal("kept"), to, key: z.string() }),
  z.object({ type: z.literal("not-kept"), to, key: z.string(), why: z.string() }),
  z.object({
    type: z.literal("ended"),
    to,
    report: EndSummary.nullable(),
    /**
     * For a build with dune, whose report comes later: results that dune made, and results that were already present
     * for it.
     */
    dune: z.object({ made: Count, used: Count }).optional(),
    outbox: OutboxAnswer.optional(),
  }),
  z.object({ type: z.literal("status"), to, status: GranaryStatus }),
  z.object({
    type: z.literal("reported"),
    to,
    /** Null when no known build of this machine has that id. */
    report: GranaryBuildReport.nullable(),
    /** The known builds, the latest first. */
    builds: z.array(
      z.object({
        id: z.string(),
        project: z.string(),
        command: z.string(),
        endedAt: z.string(),
        exitCode: z.number().nullable(),
      }),
    ),
  }),
  z.object({
    type: z.literal("trimmed"),
    to,
    removedBytes: Count,
    /** On the disk; absent from an older granary. */
    freedBytes: Count.optional(),
  }),
  z.object({ type: z.literal("stopping"), to }),
  z.object({ type: z.literal("fetching"), to, ahead: FetchAheadAnswer }),
  /** A message was not understood, or an operation failed; the build continues. */
  z.object({ type: z.literal("note"), to, note: z.string() }),
]);
export type Answer = z.infer<typeof Answer>;

/** Returns the data in an answer about the tool of a plug-in. The protocol has a field for each. */
export function usedByTool(
  tool: string,
  { made, used }: { readonly made: number; readonly used: number },
): Pick<Extract<Answer, { type: "ended" }>, "dune"> {
  return tool === "dune" ? { dune: { made, used } } : {};
}
