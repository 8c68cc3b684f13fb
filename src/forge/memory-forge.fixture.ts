import { createHash } from "node:crypto";
import type { CheckRun } from "./check-run.ts";
import type { Forge, ForgeComment, ForgePermission, PullRequest } from "./forge.ts";
import { ForgeBusy } from "./forge-busy.ts";
import type { ForgeDelivery, ForgeRedeliveries } from "./webhooks/forge-webhooks.ts";

/** Returns a commit id that is derived from a word. */
export function shaOf(word: string): string {
  return createHash("sha1").update(word).digest("hex");
}

/** A forge in memory, with one repository, and functions for tests to change it. */
export interface MemoryForge extends Forge {
  readonly redeliveries: ForgeRedeliveries;
  readonly branches: Map<string, string>;
  readonly pulls: Map<number, PullRequest>;
  readonly said: ForgeComment[];
  readonly permissions: Map<string, ForgePermission>;
  /** The ids of accounts; an account without an entry has its login. */
  readonly accountIds: Map<string, string>;
  readonly sent: ForgeDelivery[];
  readonly redelivered: string[];
  readonly checkRuns: Map<string, CheckRun>;
  /** How often each method was called. */
  readonly calls: Map<string, number>;
  /** Decides whether a response fails. */
  fails: () => boolean;
  /** By the forge's clock, in whole seconds. */
  now: Date;
  tick(seconds?: number): Date;
  open(number: number, word: string, more?: Partial<PullRequest>): void;
  change(number: number, to: Partial<PullRequest>): void;
  say(pull: number, author: string, body: string, more?: Partial<ForgeComment>): ForgeComment;
}

export function memoryForge(): MemoryForge {
  const never = () => Promise.reject<never>(new Error("nobody asks this of it here"));
  const calls = new Map<string, number>();
  const answer = async <T>(name: string, make: () => T): Promise<T> => {
    calls.set(name, (calls.get(name) ?? 0) + 1);
    if (forge.fails()) throw new ForgeBusy(`${name}: the forge is out of order`);
    return make();
  };
  const redeliveries: ForgeRedeliveries = {
    keptMs: 3 * 24 * 60 * 60_000,
    list: (since) =>
      answer("deliveries", () => forge.sent.filter(({ deliveredAt }) => deliveredAt >= since)),
    redeliver: (id) =>
      answer("redeliver", () => {
        forge.redelivered.push(id);
      }),
  };
  const forge: MemoryForge = {
    kind: "github",
    branches: new Map([["refs/heads/main", shaOf("main 1")]]),
    pulls: new Map(),
    said: [],
    permissions: new Map(),
    accountIds: new Map(),
    sent: [],
    redelivered: [],
    checkRuns: new Map(),
    calls,
    fails: () => false,
    now: new Date("2026-01-01T00:00:00Z"),
    tick(seconds = 1) {
      forge.now = new Date(forge.now.getTime() + seconds * 1_000);
      return forge.now;
    },
    open(number, word, more = {}) {
      forge.pulls.set(number, {
        number,
        state: "open",
        title: `Pull request ${number}`,
        author: "octocat",
        head: shaOf(word),
        baseRef: "refs/heads/main",
        baseSha: shaOf("main 1"),
        headRepository: "owner/name",
        isFork: false,
        updatedAt: forge.tick(),
        ...more,
      });
    },
    change(number, to) {
      const before = forge.pulls.get(number);
      if (before === undefined) throw new Error(`there is no pull request ${number}`);
      forge.pulls.set(number, { ...before, ...to, updatedAt: forge.tick() });
    },
    say(pull, author, body, more = {}) {
      const at = forge.tick();
      const comment = {
        id: String(forge.said.length + 1),
        nodeId: `node-${forge.said.length + 1}`,
        pull,
        author,
        isOurs: false,
        body,
        createdAt: at,
        updatedAt: at,
        ...more,
      };
      forge.said.push(comment);
      return comment;
    },

    fetchAddress: async (slug) => `https://x-access-token:secret@forge.test/${slug}.git`,
    refs: () => answer("refs", () => [...forge.branches].map(([ref, sha]) => ({ ref, sha }))),
    defaultBranch: () => answer("defaultBranch", () => "main"),
    storedSlug: (written) => written.toLowerCase(),
    pullRequests: {
      list: (_, since) =>
        answer("pulls", () =>
          [...forge.pulls.values()].filter(
            ({ state, updatedAt }) =>
              state === "open" || (since !== undefined && updatedAt >= since),
          ),
        ),
      find: (_, number) => answer("pull", () => forge.pulls.get(number)),
      standing: (_, login) =>
        answer("permission", () => ({
          permission: forge.permissions.get(login) ?? ("read" as const),
          accountId: forge.accountIds.get(login) ?? login,
        })),
      permission: (_, login) =>
        answer("permission", () => forge.permissions.get(login) ?? ("read" as const)),
      accountOf: (login) => login.toLowerCase(),
    },
    comments: {
      list: (_, since) =>
        answer("comments", () => forge.said.filter(({ updatedAt }) => updatedAt >= since)),
      ofPull: (_, pull) =>
        answer("commentsOf", () => forge.said.filter((comment) => comment.pull === pull)),
      create: never,
      update: never,
      delete: never,
      minimise: never,
      react: never,
    },
    checks: { list: never, create: never, update: never },
    labels: { list: never, add: never, remove: never },
    redeliveries,
    webhooks: {
      begin() {
        throw new Error("nobody sends one here");
      },
      redeliveries,
    },
    examine: async () => [],
  };
  return forge;
}
