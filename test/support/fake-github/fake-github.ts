import type { FakeFaults } from "./fake-faults.ts";

/** Something that was done at the fake, in the order in which it was done. */
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
  /** Of the pull request; undefined for checks. */
  readonly pull: number | undefined;
  /** Of the comment, check, delivery; the name of a label. */
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
  /** Instead of the branch's head: a push by force. */
  readonly onto?: string;
}

interface OpenPullOptions {
  readonly files: FakeFiles;
  readonly by?: string;
  readonly title?: string;
  /** Whose fork; without it the branch lies in the repository itself. */
  readonly fork?: string;
  readonly branch?: string;
  readonly base?: string;
}

/** A repository at the fake, and what people do in it. Each deed sends its webhooks. */
export interface FakeRepository {
  readonly slug: string;
  /** A bare Git repository with `refs/heads`, `refs/tags` and `refs/pull/N/head`. */
  readonly path: string;
  /** Where it is cloned over HTTP. */
  readonly cloneUrl: string;

  /** Commits to a branch, which is made when there is none; answers the commit. */
  push(branch: string, files: FakeFiles, options?: PushOptions): Promise<string>;
  tag(name: string, sha: string, options?: { readonly annotated?: boolean }): Promise<void>;
  /** `refs/heads/…` or `refs/tags/…`. */
  deleteRef(ref: string): Promise<void>;
  head(ref: string): string | undefined;

  openPull(options: OpenPullOptions): Promise<number>;
  /** A new commit at its head; `force` replaces the one there. Answers the commit. */
  movePull(
    pull: number,
    files: FakeFiles,
    options?: { readonly force?: boolean; readonly by?: string },
  ): Promise<string>;
  closePull(pull: number, by?: string): Promise<void>;
  reopenPull(pull: number, by?: string): Promise<void>;
  /** Answers the merge commit. */
  mergePull(pull: number, by?: string): Promise<string>;
  /** The fork is deleted; its pull requests stay. */
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
  /** Requests an hour; over it 403 with `x-ratelimit-remaining: 0`. */
  readonly hourlyRequests?: number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly events?: readonly string[];
  /** Called with each answer, for checking it against GitHub's description. */
  readonly onAnswer?: (answer: FakeAnswer) => void;
}

export interface FakeAnswer {
  readonly method: string;
  /** As GitHub's description writes it: `/repos/{owner}/{repo}`. */
  readonly route: string;
  readonly status: number;
  readonly body: unknown;
}

export interface FakeGitHub {
  /** The API's base. */
  readonly url: string;
  readonly appId: string;
  /** PEM, PKCS#1 as GitHub's. */
  readonly privateKey: string;
  /** As whom the app writes: `NAME[bot]`. */
  readonly bot: string;

  repository(
    slug: string,
    options?: {
      readonly private?: boolean;
      readonly files?: FakeFiles;
      readonly installed?: boolean;
    },
  ): Promise<FakeRepository>;
  /** Where the app is uninstalled, its tokens end. */
  uninstall(slug: string): void;
  install(slug: string): void;
  setGranted(what: {
    readonly permissions?: Readonly<Record<string, string>>;
    readonly events?: readonly string[];
  }): void;

  sendWebhooksTo(url: string | undefined, secret: string | undefined): void;
  /** Resolves when no webhook is on its way or held back. */
  webhooksSent(): Promise<void>;
  /** How many were made, lost, doubled, answered 2xx. */
  webhookCounts(): {
    readonly made: number;
    readonly lost: number;
    readonly doubled: number;
    readonly taken: number;
  };
  /** What GitHub sends when a webhook's address is set. */
  ping(): Promise<void>;

  setFaults(faults: Partial<FakeFaults>): void;
  clearFaults(): void;

  readonly ledger: readonly LedgerEntry[];
  /** Requests that came, by route; what limits count. */
  requests(): ReadonlyMap<string, number>;
  /** By how much GitHub's clock is ahead of this machine's. */
  skewClock(ms: number): void;
  revokeTokens(): void;
  stop(): Promise<void>;
}
