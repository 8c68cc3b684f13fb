import { z } from "zod";

const Time = z.iso.datetime();
const aDayMs = 24 * 3_600_000;

/** The kinds of machines that get a token of their own. */
export const EnrolledKind = z.enum(["worker", "collector", "granary"]);

/** Asks for a token that a machine hands in once, for one of its own. */
export const CreateEnrolment = z
  .strictObject({
    /** The name of the machine, also in grants. */
    principal: z.string(),
    kind: EnrolledKind,
    /** For a worker: the pools that it may serve, as a pattern; all when absent. */
    pool: z.string().max(256).optional(),
    /** For a granary: the projects to whose caches it may write, as a pattern; only `default` when absent. */
    repository: z.string().max(256).optional(),
    /** Until when it is to be handed in: a minute to 30 days from now. */
    expiresInMs: z
      .number()
      .int()
      .min(60_000)
      .max(30 * aDayMs)
      .default(3_600_000),
    /** How long the machine's own token is good; until it is revoked when absent. */
    tokenExpiresInMs: z
      .number()
      .int()
      .min(60_000)
      .max(3_660 * aDayMs)
      .optional(),
  })
  .meta({ id: "CreateEnrolment" });
export type CreateEnrolment = z.input<typeof CreateEnrolment>;

/** A machine hands an enrolment token in. Its own token stays with it: the farm gets the hash. */
export const Enrol = z
  .strictObject({
    enrolment: z.string().max(128),
    /** The kind of the machine; when the enrolment is for another kind, it is refused and the token stays usable. */
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
    /** Which of its workers did the last thing. */
    worker: z.string(),
    count: z.number().int(),
    what: z.string(),
    since: Time,
  })
  .meta({ id: "Quarantined" });
export type Quarantined = z.infer<typeof Quarantined>;

/** Whose machine works again. */
export const ReleasedWorker = z.object({ principal: z.string() }).meta({ id: "ReleasedWorker" });
