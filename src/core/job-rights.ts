import { z } from "zod";

/** The name of the variable with the token of a run, and of the entry that carries it with the lease. */
export const jobTokenName = "GRANGE_JOB_TOKEN";

/** An audience of an identity token: the service that will verify it, as that service names itself. */
export const IdentityAudience = z
  .string()
  .regex(/^[\x21-\x7e]{1,256}$/, "an audience has 1 to 256 printable characters without spaces");

/** More than any known release process needs. */
export const mostAudiences = 8;

/** What an identity token says of a run. The farm fills it in; definitions choose only the audiences. */
export const JobIdentity = z.object({
  audiences: z.array(IdentityAudience).min(1).max(mostAudiences),
  /** The repository's name on the farm. */
  repository: z.string(),
  /** The full name of the branch; empty for a commit on no branch. */
  ref: z.string(),
  sha: z.string(),
  graph: z.string(),
  job: z.string(),
  submittedBy: z.string(),
});
export type JobIdentity = z.infer<typeof JobIdentity>;

/**
 * The rights of a run's token, as its action carries them in `tokenProperty`. A right that is absent is not given.
 *
 * The trust domain is not part of them: the server takes it from the execution.
 */
export const JobRights = z.object({
  /** The project whose caches of build tools the run may use. */
  caches: z.string().min(1).max(128).optional(),
  identity: JobIdentity.optional(),
});
export type JobRights = z.infer<typeof JobRights>;

/** Returns the same text for equal rights: it is part of the action's digest. */
export function rightsText({ caches, identity }: JobRights): string {
  return JSON.stringify({
    caches,
    identity: identity && {
      audiences: identity.audiences,
      repository: identity.repository,
      ref: identity.ref,
      sha: identity.sha,
      graph: identity.graph,
      job: identity.job,
      submittedBy: identity.submittedBy,
    },
  });
}

/** Parses such a text; undefined for any other text. */
export function rightsIn(text: string): JobRights | undefined {
  try {
    return JobRights.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
