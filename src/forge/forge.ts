import type { CheckRun } from "./check-run.ts";

/** A repository as a forge knows it: `owner/name` at GitHub, a URL for a plain Git remote. */
export type ForgeSlug = string;

/** A branch or a tag, and the commit that it names (40 hex digits). */
export interface ForgeRef {
  /** In full: `refs/heads/main`, `refs/tags/v1`. */
  readonly ref: string;
  readonly sha: string;
}

export interface PullRequest {
  readonly number: number;
  readonly state: "open" | "closed" | "merged";
  readonly title: string;
  /** Login of who opened it. */
  readonly author: string;
  readonly head: string;
  /** `refs/heads/…` that it is to be merged into, and that branch's head when the forge was asked. */
  readonly baseRef: string;
  readonly baseSha: string;
  /** Where the head lies; undefined when that repository was deleted. */
  readonly headRepository: string | undefined;
  readonly isFork: boolean;
  readonly updatedAt: Date;
}

export interface ForgeComment {
  /** The forge's number of it. */
  readonly id: string;
  /** GraphQL's name of it, by which it is minimised. */
  readonly nodeId: string;
  readonly pull: number;
  /** Login of its author; the forge's word, never the comment's. */
  readonly author: string;
  readonly isOurs: boolean;
  readonly body: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What somebody may do in a repository, by the forge's word. */
export type ForgePermission = "admin" | "maintain" | "write" | "triage" | "read" | "none";

export type Reaction = "+1" | "-1" | "confused" | "eyes" | "rocket";

/** A webhook as the forge says that it sent it. */
export interface ForgeDelivery {
  /** The forge's number, for asking it to send it again. */
  readonly id: string;
  /** What the header `X-GitHub-Delivery` said. */
  readonly guid: string;
  readonly event: string;
  readonly deliveredAt: Date;
  /** Whether our answer was 2xx. */
  readonly wasTaken: boolean;
}

/** One thing that is wrong with a set-up, or right. */
export interface ForgeFinding {
  readonly what: string;
  readonly state: "ok" | "wrong" | "unknown";
  /** What was seen; what to do about it when it is wrong. */
  readonly detail: string;
}

/**
 * Where commits and pull requests live.
 *
 * Reading is safe to repeat. What writes may have succeeded although it failed here: callers look for
 * what they wrote (by marker or external id) before they write it again. Faults: `unavailable` may pass
 * (5xx, cut, limits; `retryAfterMsOf` in `forge-busy.ts` says when), `permission_denied` and `not_found` will not.
 */
export interface Forge {
  readonly kind: "github" | "git";

  /** Where its commits are fetched, with what it takes to be let in: never to be stored or shown. */
  fetchAddress(slug: ForgeSlug): Promise<string>;

  /** Branches and tags. */
  refs(slug: ForgeSlug): Promise<ForgeRef[]>;
  defaultBranch(slug: ForgeSlug): Promise<string>;

  /** All that are open, and those closed that changed since. A plain Git remote has none. */
  pulls(slug: ForgeSlug, changedSince?: Date): Promise<PullRequest[]>;
  pull(slug: ForgeSlug, number: number): Promise<PullRequest | undefined>;
  /** Comments on pull requests written or changed since, the oldest first. */
  comments(slug: ForgeSlug, changedSince: Date): Promise<ForgeComment[]>;
  /** All of one pull request. */
  commentsOf(slug: ForgeSlug, pull: number): Promise<ForgeComment[]>;
  permission(slug: ForgeSlug, login: string): Promise<ForgePermission>;

  createComment(slug: ForgeSlug, pull: number, body: string): Promise<ForgeComment>;
  updateComment(slug: ForgeSlug, id: string, body: string): Promise<void>;
  deleteComment(slug: ForgeSlug, id: string): Promise<void>;
  /** The slug, because an app's rights are those of its installation there. */
  minimiseComment(slug: ForgeSlug, nodeId: string): Promise<void>;
  react(slug: ForgeSlug, comment: string, reaction: Reaction): Promise<void>;

  /** Our check runs of a commit, with the ids by which we know them. */
  checksOf(
    slug: ForgeSlug,
    sha: string,
  ): Promise<{ readonly id: string; readonly externalId: string }[]>;
  createCheck(slug: ForgeSlug, check: CheckRun): Promise<string>;
  updateCheck(slug: ForgeSlug, id: string, check: CheckRun): Promise<void>;

  labelsOf(slug: ForgeSlug, pull: number): Promise<string[]>;
  addLabels(slug: ForgeSlug, pull: number, labels: readonly string[]): Promise<void>;
  removeLabel(slug: ForgeSlug, pull: number, label: string): Promise<void>;

  /** What webhooks the forge sent since, for finding those that never came. */
  deliveries(since: Date): Promise<ForgeDelivery[]>;
  redeliver(id: string): Promise<void>;

  /** Why it may not work: permissions, webhook, clock, token. */
  examine(slug: ForgeSlug | undefined): Promise<ForgeFinding[]>;
}
