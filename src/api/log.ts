import { z } from "zod";

/** Where to read a log from: bytes from the beginning of an attempt's log. A stream continues after `Last-Event-ID`. */
export const logPositionQuery = {
  attempt: z.string().optional(),
  offset: z.string().optional(),
};

/** The most bytes of a log in one answer; the client continues at `X-Next-Offset`. */
export const mostLogBytes = 4 * 1024 * 1024;

/** A part of a log: bytes from an offset. */
export const logPartQuery = {
  ...logPositionQuery,
  limit: z.coerce.number().int().min(1).max(mostLogBytes).default(mostLogBytes),
};

/** Which lines to find: those with a text, in which case is ignored, or those that tell of an error. */
export const logSearchQuery = {
  text: z
    .string()
    .min(1)
    .max(256)
    .refine(
      (text) => !/[\r\n]/.test(text),
      "the search works in single lines: remove the line break",
    )
    .optional(),
  errors: z.literal("true").optional(),
  from: z.coerce.number().int().min(1).max(1_000_000_000).default(1),
  most: z.coerce.number().int().min(1).max(10_000).default(1_000),
};

/**
 * Where the lines of a log are, for readers that show a part of it. Lines end with a newline; a carriage return does
 * not end one.
 */
export const LogIndex = z
  .object({
    attempt: z.number().int(),
    /** No more lines will follow. */
    complete: z.boolean(),
    /** The length of the log so far. */
    bytes: z.number().int(),
    /** The number of lines so far, with an unfinished one. */
    lines: z.number().int(),
    /**
     * For each block of about 128 KiB of whole lines: the number of lines before it, and its offset in bytes. Ascending;
     * the first is `[0, 0]`.
     */
    blocks: z.array(z.tuple([z.number().int(), z.number().int()])),
    /** The first lines that begin with `[grange: `: what the farm left out, and where. */
    notes: z.array(z.object({ line: z.number().int(), text: z.string() })),
    /**
     * The first 1,000 groups, as GitHub Actions writes them: the line of `##[group]` or `::group::`, and the line of
     * `##[endgroup]` or `::endgroup::`, or before the next group.
     */
    groups: z.array(z.tuple([z.number().int(), z.number().int()])),
  })
  .meta({ id: "LogIndex" });
export type LogIndex = z.infer<typeof LogIndex>;

/** Lines of a log that match, from 1, in ascending order. */
export const LogMatches = z
  .object({
    lines: z.array(z.number().int()),
    /** The next line that matches: search on from there. Null when there is none. */
    next: z.number().int().nullable(),
  })
  .meta({ id: "LogMatches" });
export type LogMatches = z.infer<typeof LogMatches>;

/** Data of the events `log` and `restart` of a followed log; `end` ends it. */
export const LogEvent = z
  .union([
    /** `log` */
    z.object({ offset: z.number().int(), text: z.string() }),
    /** `restart`: another attempt began its log. */
    z.object({ attempt: z.number().int() }),
  ])
  .meta({ id: "LogEvent" });
