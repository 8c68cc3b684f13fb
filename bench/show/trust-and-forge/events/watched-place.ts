import type { ForgePolicyChange } from "#api/forge.ts";
import type { FakeRepository } from "../../../../test/support/fake-github/fake-github.ts";

/** A repository that the farm watches, and all that people did there, as far as it says what is to be. */
export interface Place {
  readonly repository: FakeRepository;
  readonly policy: ForgePolicyChange;
  readonly pulls: Map<number, PullPast>;
  readonly comments: PersonComment[];
}

export interface PullPast {
  readonly author: string;
  /** The turn in which its state or head changed last. */
  changedAt: number;
  /** Head → how often it was opened again with it: each time may make another graph. */
  readonly reopened: Map<string, number>;
}

export type Word = "approve" | "bench" | "cancel" | "help" | "retrigger" | "nonsense";

export interface PersonComment {
  readonly id: number;
  readonly pull: number;
  readonly by: string;
  /** What it asked for when it was written; undefined: nothing. */
  readonly word: Word | undefined;
  readonly body: string;
  /** The head of the pull request just then. */
  readonly head: string;
  readonly turn: number;
  readonly writtenAt: number;
  fate: "as written" | "edited into talk" | "edited into a command" | "deleted";
}

/** Who may write where; everybody else may read. */
export const maintainer = "maintainer";
export const triager = "triager";
export const people = [maintainer, triager, "ann", "bob", "mallory"] as const;

/** Names of checks are those of graphs; without a named graph: */
export const checkName = "grange";

/** Policies that differ in what they want of pull requests. */
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

/** The one of which commits are measured. */
export const measuredSlug = "gamma/engine";
export const suiteName = "engine";
