import { z } from "zod";

/** A commit's full id. Short ids are resolved when they are parsed, and never used internally. */
export const CommitSha = z
  .string()
  .regex(/^[0-9a-f]{40}$/, "a commit is 40 hex digits")
  .brand<"CommitSha">();
export type CommitSha = z.infer<typeof CommitSha>;
