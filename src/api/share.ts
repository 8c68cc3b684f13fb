import { z } from "zod";
import { defaultShareMs, longestShareMs, SharedObject } from "#core/shared-object.ts";
import { SuiteWord } from "#core/test-case.ts";
import { ArtifactTag } from "./benchmark-request.ts";

const Time = z.iso.datetime();

/** The header in which a caller sends the token of a share link. */
export const shareHeader = "x-grange-share";

/** A link by which whoever has it reads one object for a limited time. */
export const ShareLink = z
  .object({
    id: z.string(),
    object: SharedObject,
    /** Where its maker must have the right to read the object. Empty: on the whole farm. */
    repository: z.string(),
    branch: z.string(),
    madeBy: z.string(),
    madeAt: Time,
    expiresAt: Time,
    /** When it was opened first. */
    openedAt: Time.nullable(),
    revokedAt: Time.nullable(),
    revokedBy: z.string().nullable(),
  })
  .meta({ id: "ShareLink" });
export type ShareLink = z.infer<typeof ShareLink>;

export const CreatedShareLink = ShareLink.extend({
  /** The address to give away; its part after `#` is the token. Returned only here. */
  url: z.string(),
  /** Returned only here. */
  token: z.string(),
}).meta({ id: "CreatedShareLink" });
export type CreatedShareLink = z.infer<typeof CreatedShareLink>;

/** From a minute to 90 days, in ms; 7 days unless given. */
const expiresInMs = z.number().int().min(60_000).max(longestShareMs).default(defaultShareMs);

/** With `path`, a file among the outputs of the run, and else its log; with `batch`, that of a batch. */
export const ShareRun = z
  .strictObject({
    path: z.string().min(1).max(4_096).optional(),
    batch: z.number().int().min(1).optional(),
    expiresInMs,
  })
  .refine(({ path, batch }) => path === undefined || batch === undefined, {
    error: "a batch has only a log: omit `path` or `batch`",
  })
  .meta({ id: "ShareRun" });

/** Without a metric, the headline of the suite. */
export const ShareComparison = z
  .strictObject({
    suite: SuiteWord,
    before: ArtifactTag,
    after: ArtifactTag,
    metric: z.string().max(40).optional(),
    expiresInMs,
  })
  .meta({ id: "ShareComparison" });

/** What a share link opens, for whoever has the link. */
export const Shared = z
  .object({ object: SharedObject, madeBy: z.string(), expiresAt: Time })
  .meta({ id: "Shared" });
export type Shared = z.infer<typeof Shared>;
