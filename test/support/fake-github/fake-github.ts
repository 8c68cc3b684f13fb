import type { FakeFaults } from "./fake-faults.ts";

/** A change that was made at the fake, in order. */
export interface LedgerEntry {
  readonly number: number;
  readonly what:
    | "comment created"
    | "comment updated"
    | "comment deleted"
    | "comment minimised"
    | "reaction added"
    | "check created"
    | "check updated"
    | "label added"
    | "label removed"
    | "delivery asked for again";
  /** Login: the app's is `NAME[bot]`. */
  readonly by: string;
  readonly repository: string;
  /** The pull request; undefined for checks. */
  readonly pull: number | undefined;
  /** The id of the comment, check, or delivery; the name of a label. */
  readonly id: string;
  readonly text: string;
}

export interface FakeComment {
  readonly id: number;
  readonly nodeId: string;
  readonly author: string;
  readonly body: string;
  readonly isMinimised: boolean;
  readonly reactions: readonly { readonly content: string; readonly by: string }[];
}

interface FakeCheck {
  readonly id: number;
  readonly sha: string;
  readonly name: string;
  readonly externalId: string | null;
  readonly status: string;
  readonly conclusion: string | null;
  readonly title: string | null;
  readonly summary: string | null;
  readonly annotations: readonly {
    readonly path: string;
    readonly start_line: number;
    readonly message: string;
  }[];
}

/** Files to write; null removes one. */
export type FakeFiles = Readonly<Record<string, string | null>>;

interface PushOptions {
  readonly subject?: string;
  readonly by?: string;
  /** Replaces the branch's head, like a forced push. */
  readonly onto?: string;
}

interface OpenPullOptions {
  readonly files: FakeFiles;
  readonly by?: string;
  readonly title?: string;
  /** The owner of the fork; without it the branch is in the repository itself. */
  readonly fork?: string;
  readonly branch?: string;
  readonly base?: string;
}

/** A repository at the fake, and the actions of people in it. Each action sends its webhooks. */
export interface FakeRepository {
  readonly slug: string;
  /** A bare Git repository with `refs/heads`, `refs/tags` and `refs/pull/N/head`. */
  readonly path: string;
  /** The URL for clones over HTTP. */
  readonly cloneUrl: string;

  /** Commits to a branch, which is created if it does not exist; returns the commit. */
  push(branch: string, files: FakeFiles, options?: PushOptions): Promise<string>;
  tag(name: string, sha: string, options?: { readonly annotated?: boolean }): Promise<void>;
  /** `refs/heads/…` or `refs/tags/…`. */
  deleteRef(ref: string): Promise<void>;
  head(ref: string): string | undefined;

  openPull(options: OpenPullOptions): Promise<number>;
  /** A new commit at its head; `force` replaces the present one. Returns the commit. */
  movePull(
    pull: number,
    files: FakeFiles,
    options?: { readonly force?: boolean; readonly by?: string },
  ): Promise<string>;
  closePull(pull: number, by?: string): Promise<void>;
  reopenPull(pull: number, by?: string): Promise<void>;
  /** Returns the merge commit. */
  mergePull(pull: number, by?: string): Promise<string>;
  /** Deletes the fork; its pull requests remain. */
  deleteFork(owner: string): void;

  comment(pull: number, by: string, body: string): Promise<number>;
  editComment(id: number, body: string, by?: string): Promise<void>;
  deleteComment(id: number): Promise<void>;
  setPermission(login: string, permission: string): void;
  setRole(login: string, permission: string, role: string): void;

  pullState(pull: number): {
    readonly state: "open" | "closed" | "merged";
    readonly head: string;
    readonly isFork: boolean;
  };
  pulls(): readonly number[];
  comments(pull: number): readonly FakeComment[];
  checks(sha?: string): readonly FakeCheck[];
  labels(pull: number): readonly string[];
}

export interface FakeGitHubOptions {
  readonly seed?: number;
  readonly faults?: Partial<FakeFaults>;
  readonly appName?: string;
  readonly now?: () => Date;
  /** Requests an hour; above it 403 with `x-ratelimit-remaining: 0`. */
  readonly hourlyRequests?: number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly events?: readonly string[];
  /** Called with each response, to check it against GitHub's description. */
  readonly onAnswer?: (answer: FakeAnswer) => void;
}

export interface FakeAnswer {
  readonly method: string;
  /** In the form of GitHub's description: `/repos/{owner}/{repo}`. */
  readonly route: string;
  readonly status: number;
  readonly body: unknown;
}

export interface FakeGitHub {
  /** The base URL of the API. */
  readonly url: string;
  readonly appId: string;
  /** PEM, PKCS#1, as GitHub's. */
  readonly privateKey: string;
  /** The app's login: `NAME[bot]`. */
  readonly bot: string;

  repository(
    slug: string,
    options?: {
      readonly private?: boolean;
      readonly files?: FakeFiles;
      readonly installed?: boolean;
    },
  ): Promise<FakeRepository>;
  /** Uninstalls the app in a repository; its tokens end. */
  uninstall(slug: string): void;
  install(slug: string): void;
  setGranted(what: {
    readonly permissions?: Readonly<Record<string, string>>;
    readonly events?: readonly string[];
  }): void;

  sendWebhooksTo(url: string | undefined, secret: string | undefined): void;
  /** Resolves when no webhook is being sent or delayed. */
  webhooksSent(): Promise<void>;
  /** How many were created, lost, duplicated, and answered with 2xx. */
  webhookCounts(): {
    readonly made: number;
    readonly lost: number;
    readonly doubled: number;
    readonly taken: number;
  };
  /** Sends what GitHub sends when a webhook's URL is set. */
  ping(): Promise<void>;

  setFaults(faults: Partial<FakeFaults>): void;
  clearFaults(): void;

  readonly ledger: readonly LedgerEntry[];
  /** The received requests by route, as limits count them. */
  requests(): ReadonlyMap<string, number>;
  /** Sets how far GitHub's clock is ahead of this machine's. */
  skewClock(ms: number): void;
  revokeTokens(): void;
  stop(): Promise<void>;
}
