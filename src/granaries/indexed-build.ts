import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { isKeepable } from "#core/keepable-text.ts";

/** First parents beyond these are not looked at; so many commits change most of what a build asks for. */
export const mostCommits = 64;

const Commit = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "a commit's whole id");
const Text = (most: number) => z.string().max(most).refine(isKeepable, "text without NUL");

/** Of which build an index is asked for, or told. */
export const IndexedBuild = z.object({
  project: z.string(),
  repository: Text(200),
  /** Its commit, then its first parents, the nearest first. */
  commits: z.array(Commit).min(1).max(mostCommits),
  tree: z.union([z.literal(""), Commit]),
  branch: Text(255),
  environment: z.string().regex(/^[A-Za-z0-9._-]{1,128}$/, "an environment's digest, or a word"),
});
export type IndexedBuild = z.infer<typeof IndexedBuild>;

/** Throws `invalid_argument` with what is wrong. */
export function indexedBuildOf(said: z.input<typeof IndexedBuild>): IndexedBuild {
  const build = IndexedBuild.safeParse(said);
  if (build.success) return build.data;
  throw new Fault("invalid_argument", `that is no build: ${z.prettifyError(build.error)}`);
}
