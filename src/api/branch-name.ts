import { z } from "zod";

/**
 * A branch as Git names it, without `refs/heads/`; the empty text is that of no branch.
 *
 * Rules and grants are kept by this name: under another spelling of it, a graph would be on another branch.
 * Source of what a name may have: git-check-ref-format(1).
 */
export const BranchName = z
  .string()
  .max(512)
  .regex(
    /^(?!refs\/|heads\/|[/.-])(?!.*(?:\.\.|\/\/|\/\.|@\{))[^\p{Cc} ~^:?*[\\]*(?<![/.])$/u,
    "is no branch's name: write it without refs/heads/, and without spaces and any of ~ ^ : ? * [ \\",
  );
