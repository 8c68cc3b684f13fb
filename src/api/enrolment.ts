import { z } from "zod";

const Time = z.iso.datetime();
const aDayMs = 24 * 3_600_000;

/** The kinds of machines that get their own token. */
export const EnrolledKind = z.enum(["worker", "collector", "granary"]);

/** Requests an enrolment token, which a machine exchanges once for its own token. */
export const CreateEnrolment = z
  .strictObject({
    /** The name of the machine, which grants use, too. */
    principal: z.string(),
    kind: EnrolledKind,
    /** For a worker: the pools that it may serve, as a pattern; all when absent. */
    pool: z.string().max(256).optional(),
    /** For a granary: the projects to whose caches it may write, as a pattern; only `default` when absent. */
    repository: z.string().max(256).optional(),
    /** The expiry of the enrolment token: a minute to 30 days from now. */
    expiresInMs: z
      .number()
      .int()
      .min(60_000)
      .max(30 * aDayMs)
      .default(3_600_000),
    /** The lifetime of the machine's own token; valid until it is revoked when absent. */
    tokenExpiresInMs: z
      .number()
      .int()
      .min(60_000)
      .max(3_660 * aDayMs)
      .optional(),
  })
  .meta({ id: "CreateEnrolment" });
export type CreateEnrolment = z.input<typeof CreateEnrolment>;

/** Exchanges an enrolment token. The machine's own token stays on the machine; the farm gets its hash. */
export const Enrol = z
  .strictObject({
    enrolment: z.string().max(128),
    /** The kind of the machine; an enrolment for another kind is refused, and the token stays usable. */
    kind: EnrolledKind.optional(),
    /** SHA-256 of the token that it made: `grange_` and 32 random bytes as base64url. In hex. */
    tokenHash: z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in hex"),
  })
  .meta({ id: "Enrol" });
export type Enrol = z.infer<typeof Enrol>;

export const Enrolled = z
  .object({
    principal: z.string(),
    tokenId: z.string(),
    /** Null: until it is revoked. */
    expiresAt: Time.nullable(),
  })
  .meta({ id: "Enrolled" });
export type Enrolled = z.infer<typeof Enrolled>;

/** A machine that is excluded because of its behaviour. */
export const Quarantined = z
  .object({
    principal: z.string(),
    /** The worker that caused the last offence. */
    worker: z.string(),
    count: z.number().int(),
    what: z.string(),
    since: Time,
  })
  .meta({ id: "Quarantined" });
export type Quarantined = z.infer<typeof Quarantined>;

/** The principal whose machine may work again. */
export const ReleasedWorker = z.object({ principal: z.string() }).meta({ id: "ReleasedWorker" });
