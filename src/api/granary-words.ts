import type { LateReason, UsedIndex } from "./granary.ts";

/** Why a result was not available in time, for people: on pages and in terminals. */
export const lateReasonTexts: Readonly<Record<LateReason, string>> = {
  "not-indexed": "no index contained it",
  overtaken: "the build was faster than the network",
  "over-budget": "left out of the transfer",
  "never-made": "no build had made it",
  incomplete: "the farm no longer had a part of it",
  quarantined: "it is in quarantine",
  "farm-away": "the farm did not answer in time",
  "cross-check": "made again on purpose, for a comparison",
};

/** Advice for each reason. */
export const becauseAdvice: Readonly<Record<LateReason, string>> = {
  "not-indexed":
    "No build of this commit or of an earlier one requested it. The next build finds it in the index.",
  overtaken: "Prefetch earlier: run grange granary prefetch when you check out a commit.",
  "over-budget": "It was too large or too late for the limits of the transfer.",
  "never-made":
    "The sources or the options are new, the keys contain the directory (ccache with -g), or the builds that made it do not share results.",
  incomplete: "The farm deleted it to free space. Increase --store-limit.",
  quarantined: "It differed when it was made again. See the quarantine.",
  "farm-away": "Check the network, and grange granary status.",
  "cross-check": "A small share of hits is made again, to find results that cannot be trusted.",
};

export const indexWords: Readonly<Record<UsedIndex["source"], string>> = {
  commit: "this commit’s",
  tree: "of another commit with the same files",
  ancestor: "of an earlier commit",
  branch: "the branch’s newest",
  repository: "the repository’s newest, of any branch",
};
