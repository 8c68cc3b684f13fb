import { z } from "zod";
import { AuditRecord } from "./job-origin.ts";

/** A recorded change, anywhere on the farm. */
export const AuditLogRecord = AuditRecord.extend({
  /** The changed graph; null for changes that belong to no graph. */
  graph: z.string().nullable(),
});
export type AuditLogRecord = z.infer<typeof AuditLogRecord>;

export const AuditQuery = z.strictObject({
  /** Only entries before this one, by `seq`, to read the next page. */
  before: z.coerce.number().int().positive().optional(),
  actor: z.string().max(128).optional(),
  verb: z.string().max(64).optional(),
  since: z.iso.datetime().optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(200),
});
export type AuditQuery = z.output<typeof AuditQuery>;

/** The latest first. */
export const AuditPage = z
  .object({
    entries: z.array(AuditLogRecord),
    /** Pass this as `before` to get older ones; null when there are none. */
    next: z.number().int().nullable(),
  })
  .meta({ id: "AuditPage" });
export type AuditPage = z.infer<typeof AuditPage>;
