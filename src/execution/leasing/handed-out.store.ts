import { z } from "zod";
import { parseDigestKey } from "#core/digest.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "../execution.ts";

/** The facts of a leased execution that do not change while its lease lasts. */
export const HandedOutRow = z.object({
  id: ExecutionId,
  project: z.string(),
  domain: TrustDomain,
  actionDigest: z.string().transform(parseDigestKey),
  invocation: z.string(),
  doNotCache: z.boolean(),
  attempt: z.number(),
  epoch: z.number(),
  worker: z.string(),
  workerInstance: z.string(),
  queuedAt: z.date(),
  leasedAt: z.date(),
  /** The timeout of the current attempt. */
  timeoutMs: z.number(),
  requirements: z.string(),
  leastSizeClass: z.number(),
  mostSizeClass: z.number().nullable(),
  isSized: z.boolean(),
  sizeRetries: z.number(),
  /** The execution that it runs beside. */
  hedgeOf: ExecutionId.nullable(),
  similarityKeys: z.array(z.string()),
  owner: z.string(),
  title: z.string(),
  requestedTimeoutMs: z.number(),
});
export type HandedOutRow = z.infer<typeof HandedOutRow>;

/** The columns to read from `execution`. */
export const handedOutColumns = sql`
  id, project, domain, action_digest as "actionDigest", invocation,
  do_not_cache as "doNotCache", attempt, epoch, worker, worker_instance as "workerInstance",
  queued_at as "queuedAt", leased_at as "leasedAt", timeout_ms as "timeoutMs", requirements,
  least_size_class as "leastSizeClass", most_size_class as "mostSizeClass",
  is_sized as "isSized", size_retries as "sizeRetries", hedge_of as "hedgeOf", kin as "similarityKeys", owner, title,
  coalesce(asked_timeout_ms, timeout_ms) as "requestedTimeoutMs"`;
