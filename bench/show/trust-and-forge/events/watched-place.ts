import type { ForgePolicyChange } from "#api/forge.ts";
import type { FakeRepository } from "../../../../test/support/fake-github/fake-github.ts";

/** A repository that the farm watches, and all people's actions there that affect the expected state. */
export interface Place {
  readonly repository: FakeRepository;
  readonly policy: ForgePolicyChange;
  readonly pulls: Map<number, PullPast>;
  readonly comments: PersonComment[];
}

export interface PullPast {
  readonly author: string;
  /** The turn of the last change of its state or head. */
  changedAt: number;
  /** Head → how often the pull request was reopened with it: each time may create another graph. */
  readonly reopened: Map<string, number>;
}

export type Word = "approve" | "bench" | "cancel" | "help" | "retrigger" | "nonsense";

export interface PersonComment {
  readonly id: number;
  readonly pull: number;
  readonly by: string;
  /** The request in the original text; undefined: none. */
  readonly word: Word | undefined;
  readonly body: string;
  /** The head of the pull request at that time. */
  readonly head: string;
  readonly turn: number;
  readonly writtenAt: number;
  fate: "as written" | "edited into talk" | "edited into a command" | "deleted";
}

/** The user who may write; everybody else may read. */
export const maintainer = "maintainer";
export const triager = "triager";
export const people = [maintainer, triager, "ann", "bob", "mallory"] as const;

/** Names of checks are those of graphs; without a named graph: */
export const checkName = "grange";

/** Policies that differ for pull requests. */
export const policies: Readonly<Record<string, ForgePolicyChange>> = {
  "acme/api": {},
  "acme/web": { forkGraphs: "always" },
  "beta/core": {},
  "beta/docs": { pullGraphs: false },
  "gamma/engine": { suite: "engine" },
  "gamma/tools": { forkGraphs: "never" },
  "delta/app": {},
  "delta/lib": { forkGraphs: "always", tags: "v*" },
};

/** The repository whose commits are measured. */
export const measuredSlug = "gamma/engine";
export const suiteName = "engine";
