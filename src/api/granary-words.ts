import type { LateBecause, UsedIndex } from "./granary.ts";

/** Why a result was not available in time, for people: on pages and in terminals. */
export const becauseWords: Readonly<Record<LateBecause, string>> = {
  "not-indexed": "no index named it",
  overtaken: "the build was faster than the line",
  "over-budget": "left out of the transfer",
  "never-made": "nobody had made it",
  incomplete: "the farm had lost a part of it",
  quarantined: "it is in quarantine",
  "farm-away": "the farm did not answer in time",
  "cross-check": "made again on purpose, to compare",
};

/** Advice for each reason. */
export const becauseAdvice: Readonly<Record<LateBecause, string>> = {
  "not-indexed":
    "No build of this commit or of one before it asked for it. The next one finds it in the index.",
  overtaken: "Prefetch earlier: when the commit is checked out, by grange granary prefetch.",
  "over-budget": "It was too large or too late for the limits of the transfer.",
  "never-made":
    "The sources or the options are new, the directory is in the keys (ccache with -g), or nobody who built them shares what they made.",
  incomplete: "The farm’s store wanted the room. Give it more with --store-limit.",
  quarantined: "It came out differently when it was made again. See the quarantine.",
  "farm-away": "Look at the network, and at grange granary status.",
  "cross-check": "A small share of hits is made again, to find results that cannot be trusted.",
};

export const indexWords: Readonly<Record<UsedIndex["source"], string>> = {
  commit: "this commit’s",
  tree: "of another commit with the same files",
  ancestor: "of a commit before it",
  branch: "the branch’s newest",
  repository: "the repository’s newest, of whatever branch",
};
