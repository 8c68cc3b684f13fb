import { createHash } from "node:crypto";
import type { CheckRun } from "./check-run.ts";
import type { Forge, ForgeComment, ForgeDelivery, ForgePermission, PullRequest } from "./forge.ts";
import { ForgeBusy } from "./forge-busy.ts";

/** A commit's id made of a word. */
export function shaOf(word: string): string {
  return createHash("sha1").update(word).digest("hex");
}

/** A forge in memory, of one repository: what tests do to it, and what the farm asks of it. */
export interface MemoryForge extends Forge {
  readonly branches: Map<string, string>;
  readonly pullRequests: Map<number, PullRequest>;
  readonly said: ForgeComment[];
  readonly permissions: Map<string, ForgePermission>;
  readonly sent: ForgeDelivery[];
  readonly redelivered: string[];
  readonly checks: Map<string, CheckRun>;
  /** How often each method was called. */
  readonly calls: Map<string, number>;
  /** Each answer may fail: true has it fail. */
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
  const forge: MemoryForge = {
    kind: "github",
    branches: new Map([["refs/heads/main", shaOf("main 1")]]),
    pullRequests: new Map(),
    said: [],
    permissions: new Map(),
    sent: [],
    redelivered: [],
    checks: new Map(),
    calls,
    fails: () => false,
    now: new Date("2026-01-01T00:00:00Z"),
    tick(seconds = 1) {
      forge.now = new Date(forge.now.getTime() + seconds * 1_000);
      return forge.now;
    },
    open(number, word, more = {}) {
      forge.pullRequests.set(number, {
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
      const before = forge.pullRequests.get(number);
      if (before === undefined) throw new Error(`there is no pull request ${number}`);
      forge.pullRequests.set(number, { ...before, ...to, updatedAt: forge.tick() });
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
    pulls: (_, since) =>
      answer("pulls", () =>
        [...forge.pullRequests.values()].filter(
          ({ state, updatedAt }) => state === "open" || (since !== undefined && updatedAt >= since),
        ),
      ),
    pull: (_, number) => answer("pull", () => forge.pullRequests.get(number)),
    comments: (_, since) =>
      answer("comments", () => forge.said.filter(({ updatedAt }) => updatedAt >= since)),
    commentsOf: (_, pull) =>
      answer("commentsOf", () => forge.said.filter((comment) => comment.pull === pull)),
    permission: (_, login) =>
      answer("permission", () => forge.permissions.get(login) ?? ("read" as const)),
    deliveries: (since) =>
      answer("deliveries", () => forge.sent.filter(({ deliveredAt }) => deliveredAt >= since)),
    redeliver: (id) =>
      answer("redeliver", () => {
        forge.redelivered.push(id);
      }),
    createComment: never,
    updateComment: never,
    deleteComment: never,
    minimiseComment: never,
    react: never,
    checksOf: never,
    createCheck: never,
    updateCheck: never,
    labelsOf: never,
    addLabels: never,
    removeLabel: never,
    examine: async () => [],
  };
  return forge;
}
