import { z } from "zod";
import { IdentityAudience, mostAudiences } from "#core/job-rights.ts";
import { tokenProperty } from "#core/platform.ts";
import { oneOrMany } from "./one-or-many.ts";

/** The keys that request rights for the token of a run. */
export const tokenShape = {
  caches: z
    .boolean()
    .optional()
    .describe(
      "Whether the job may use the caches of build tools of its repository: their address is in $GRANGE_CACHES, and the token in $GRANGE_JOB_TOKEN. Default: false.",
    ),
  identity: oneOrMany(IdentityAudience, "an audience")
    .refine((names) => names.length <= mostAudiences, `name at most ${mostAudiences} audiences`)
    .optional()
    .describe(
      "Audiences for which the job may request an OpenID Connect token at $GRANGE_IDENTITY_URL: clouds and registries that trust the farm's issuer. Never in a pull request.",
    ),
} as const;

interface JobWithToken {
  readonly caches?: boolean | undefined;
  readonly identity?: readonly string[] | undefined;
  readonly platform?: Readonly<Record<string, string>> | undefined;
  readonly network?: boolean | undefined;
  readonly chunks?: unknown;
  readonly outside?: boolean | undefined;
}

/** Returns what is wrong with the keys of a job that concern its token. */
export function problemsOfToken(job: JobWithToken) {
  const found: { readonly path: readonly string[]; readonly message: string }[] = [];
  const say = (path: readonly string[], message: string) => found.push({ path, message });
  if (Object.hasOwn(job.platform ?? {}, tokenProperty)) {
    say(
      ["platform", tokenProperty],
      'only the farm sets this property: use "caches" and "identity"',
    );
  }
  const { identity = [] } = job;
  if (new Set(identity).size < identity.length) say(["identity"], "names an audience twice");
  const keys = [...(job.caches === true ? ["caches"] : []), ...(identity[0] ? ["identity"] : [])];
  for (const key of keys) {
    if (job.network !== true) say([key], `"${key}" needs the network: add "network: true"`);
    if (job.chunks !== undefined) say([key], `a job with chunks has no "${key}"`);
    if (job.outside === true) say([key], `a job that another machine runs has no "${key}"`);
  }
  return found;
}
