import { z } from "zod";

/**
 * A branch as Git names it, without `refs/heads/`; the empty text stands for no branch.
 *
 * Rules and grants are stored under this name: with another spelling, a graph would be on another branch. Source for
 * allowed names: git-check-ref-format(1).
 */
export const BranchName = z
  .string()
  .max(512)
  .regex(
    /^(?!refs\/|heads\/|[/.-])(?!.*(?:\.\.|\/\/|\/\.|@\{))[^\p{Cc} ~^:?*[\\]*(?<![/.])$/u,
    "is not the name of a branch: write it without refs/heads/, and without spaces and any of ~ ^ : ? * [ \\",
  );
