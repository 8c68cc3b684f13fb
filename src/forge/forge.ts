import type { CheckRun } from "./check-run.ts";
import type { ForgeWebhooks } from "./webhooks/forge-webhooks.ts";

/** A repository as its forge names it: `owner/name`, or the URL of a plain Git remote. */
export type ForgeSlug = string;

/** A repository at a forge of a kind. */
export interface ForgePlace {
  readonly kind: string;
  readonly slug: ForgeSlug;
}

/** A branch or a tag, and the commit that it names (40 hex digits). */
export interface ForgeRef {
  /** The full name: `refs/heads/main`, `refs/tags/v1`. */
  readonly ref: string;
  readonly sha: string;
}

export interface PullRequest {
  readonly number: number;
  readonly state: "open" | "closed" | "merged";
  readonly title: string;
  /** The login of its author. */
  readonly author: string;
  readonly head: string;
  /** `refs/heads/…` of the target branch, and its head at the time of reading. */
  readonly baseRef: string;
  readonly baseSha: string;
  /** The repository of the head; undefined when it was deleted. */
  readonly headRepository: string | undefined;
  readonly isFork: boolean;
  readonly updatedAt: Date;
}

export interface ForgeComment {
  /** The forge's id of the comment. */
  readonly id: string;
  /** The id that the forge needs to minimise it. */
  readonly nodeId: string;
  readonly pull: number;
  /** Login of its author, as stated by the forge, never by the comment. */
  readonly author: string;
  readonly isOurs: boolean;
  readonly body: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A user's permission in a repository, from the forge. */
export type ForgePermission = "admin" | "maintain" | "write" | "triage" | "read" | "none";

/** The permission of an account, and the forge's id of it, which stays when the account gets another name. */
export interface AccountStanding {
  readonly permission: ForgePermission;
  readonly accountId: string | undefined;
}

export type Reaction = "+1" | "-1" | "confused" | "eyes" | "rocket";

/** A finding about a part of a set-up: a problem, or that the part is correct. */
export interface ForgeFinding {
  readonly what: string;
  readonly state: "ok" | "wrong" | "unknown";
  /** The observation; and the remedy if it is a problem. */
  readonly detail: string;
}

/**
 * A host of repositories: functions that every kind of forge has, and optional capabilities.
 *
 * A capability that is absent is skipped: no pull requests are read, nothing is reported. Reads are safe to repeat. A
 * write may have succeeded although the call failed: callers search for the written object (by marker or external id)
 * before they write it again. Faults: `unavailable` is temporary (5xx, interruptions, limits; `retryAfterMsOf` in
 * `forge-busy.ts` returns the waiting time), `permission_denied` and `not_found` are permanent.
 */
export interface Forge {
  /** The name of its kind in the registry (`forge-kinds.ts`). */
  readonly kind: string;

  /**
   * Returns the slug as the farm stores it: the same text for each spelling that the forge treats as one repository.
   */
  storedSlug(written: string): ForgeSlug;
  /** Returns the address to fetch commits from, with credentials: never to be stored or shown. */
  fetchAddress(slug: ForgeSlug): Promise<string>;
  /** Returns branches and tags. */
  refs(slug: ForgeSlug): Promise<ForgeRef[]>;
  defaultBranch(slug: ForgeSlug): Promise<string>;
  /**
   * Returns reasons why it may not work: permissions, webhook, clock, token. Without a slug: checks the farm's access
   * in general.
   */
  examine(slug: ForgeSlug | undefined): Promise<ForgeFinding[]>;

  readonly pullRequests?: ForgePullRequests;
  readonly comments?: ForgeComments;
  readonly checks?: ForgeChecks;
  readonly labels?: ForgeLabels;
  readonly webhooks?: ForgeWebhooks;
}

/** Pull requests, and permissions of accounts in a repository. */
export interface ForgePullRequests {
  /** Returns all that are open, and those closed that changed since. */
  list(slug: ForgeSlug, changedSince?: Date): Promise<PullRequest[]>;
  find(slug: ForgeSlug, number: number): Promise<PullRequest | undefined>;
  permission(slug: ForgeSlug, login: string): Promise<ForgePermission>;
  standing(slug: ForgeSlug, login: string): Promise<AccountStanding>;
  /** Returns the same text for each spelling of a login that the forge treats as one account. */
  accountOf(login: string): string;
}

/** Comments on pull requests. */
export interface ForgeComments {
  /**
   * Returns the comments on all pull requests that were written or changed since, the oldest first.
   */
  list(slug: ForgeSlug, changedSince: Date): Promise<ForgeComment[]>;
  /** Returns all comments on one pull request, the oldest first. */
  ofPull(slug: ForgeSlug, pull: number): Promise<ForgeComment[]>;
  create(slug: ForgeSlug, pull: number, body: string): Promise<ForgeComment>;
  update(slug: ForgeSlug, id: string, body: string): Promise<void>;
  /** Also succeeds when the comment no longer exists. */
  delete(slug: ForgeSlug, id: string): Promise<void>;
  /** Needs the slug, because the farm's rights depend on the repository. */
  minimise(slug: ForgeSlug, nodeId: string): Promise<void>;
  react(slug: ForgeSlug, comment: string, reaction: Reaction): Promise<void>;
}

/** Check runs of commits. */
export interface ForgeChecks {
  /** Returns the farm's check runs of a commit, with their external ids. */
  list(
    slug: ForgeSlug,
    sha: string,
  ): Promise<{ readonly id: string; readonly externalId: string }[]>;
  /** Returns the id of the new check run. */
  create(slug: ForgeSlug, check: CheckRun): Promise<string>;
  update(slug: ForgeSlug, id: string, check: CheckRun): Promise<void>;
}

/** Labels of pull requests. */
export interface ForgeLabels {
  list(slug: ForgeSlug, pull: number): Promise<string[]>;
  add(slug: ForgeSlug, pull: number, labels: readonly string[]): Promise<void>;
  /** Also succeeds when the label does not exist. */
  remove(slug: ForgeSlug, pull: number, label: string): Promise<void>;
}
