import { randomUUID } from "node:crypto";
import type { FakeFaults } from "./fake-faults.ts";
import type { LedgerEntry } from "./fake-github.ts";
import type { GitStore } from "./git-store.ts";

/** The complete state of the fake. Other parts change it only through the functions for actions. */
export interface FakeState {
  readonly appId: number;
  readonly appName: string;
  readonly bot: string;
  readonly repositories: Map<string, RepositoryState>;
  readonly tokens: Map<string, TokenState>;
  readonly deliveries: DeliveryState[];
  readonly ledger: LedgerEntry[];
  readonly users: Map<string, number>;
  readonly installations: Map<string, number>;
  permissions: Readonly<Record<string, string>>;
  events: readonly string[];
  webhook: { readonly url: string | undefined; readonly secret: string | undefined };
  faults: FakeFaults;
  /** The API's base URL and its clock. */
  url: string;
  now(): Date;
  nextId(): number;
  draw(): number;
}

interface TokenState {
  readonly owner: string;
  readonly expiresAt: Date;
  readonly permissions: Readonly<Record<string, string>>;
  readonly repositories: readonly string[] | undefined;
}

export interface RepositoryState {
  readonly id: number;
  readonly owner: string;
  readonly name: string;
  readonly isPrivate: boolean;
  readonly isFork: boolean;
  isInstalled: boolean;
  isDeleted: boolean;
  readonly createdAt: Date;
  pushedAt: Date;
  /** Undefined for forks: their objects are in the repository that they were made from. */
  readonly git: GitStore | undefined;
  readonly tags: Map<string, string>;
  readonly pulls: Map<number, PullState>;
  readonly comments: Map<number, CommentState>;
  readonly checks: Map<number, CheckState>;
  readonly labels: Map<string, number>;
  readonly permissions: Map<string, { readonly permission: string; readonly role: string }>;
}

export interface PullState {
  readonly id: number;
  readonly number: number;
  state: "open" | "closed";
  mergedAt: Date | undefined;
  mergeCommit: string | undefined;
  closedAt: Date | undefined;
  readonly title: string;
  readonly author: string;
  readonly branch: string;
  readonly headRepository: RepositoryState;
  head: string;
  readonly base: string;
  /** The base's commit when the head was last moved, as in GitHub. */
  baseSha: string;
  readonly labels: Set<string>;
  readonly createdAt: Date;
  updatedAt: Date;
}

export interface CommentState {
  readonly id: number;
  readonly nodeId: string;
  readonly pull: number;
  readonly author: string;
  readonly isBot: boolean;
  body: string;
  isMinimised: boolean;
  readonly reactions: { readonly id: number; readonly content: string; readonly by: string }[];
  readonly createdAt: Date;
  updatedAt: Date;
}

export interface AnnotationState {
  readonly path: string;
  readonly start_line: number;
  readonly end_line: number;
  readonly annotation_level: string;
  readonly message: string;
}

export interface CheckState {
  readonly id: number;
  readonly sha: string;
  name: string;
  externalId: string | null;
  detailsUrl: string | null;
  status: "queued" | "in_progress" | "completed";
  conclusion: string | null;
  startedAt: string | null;
  completedAt: string | null;
  title: string | null;
  summary: string | null;
  readonly annotations: AnnotationState[];
}

export interface DeliveryState {
  readonly id: bigint;
  readonly guid: string;
  readonly event: string;
  readonly action: string | null;
  /** Compressed: thousands of them are stored, with tens of kilobytes each. */
  readonly body: Buffer;
  readonly at: Date;
  readonly isAgain: boolean;
  readonly repositoryId: number | null;
  readonly installationId: number | null;
  status: string;
  statusCode: number;
  /** Whether GitHub's list contains it. */
  isListed: boolean;
}

export const nodeId = (kind: string, id: number) =>
  `${kind}_${Buffer.from(`${kind}:${id}`).toString("base64url")}`;

export const newGuid = () => randomUUID();

export function userId(state: FakeState, login: string): number {
  const known = state.users.get(login) ?? state.nextId();
  state.users.set(login, known);
  return known;
}

export function installationId(state: FakeState, owner: string): number {
  const known = state.installations.get(owner) ?? state.nextId();
  state.installations.set(owner, known);
  return known;
}

export const slugOf = (repository: RepositoryState) => `${repository.owner}/${repository.name}`;

/** GitHub's times have whole seconds. */
export const stamp = (date: Date) => `${date.toISOString().slice(0, 19)}Z`;

export function record(
  state: FakeState,
  entry: Omit<LedgerEntry, "number" | "by">,
  by = state.bot,
): void {
  state.ledger.push({ ...entry, by, number: state.ledger.length + 1 });
}
