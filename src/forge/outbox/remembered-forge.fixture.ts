import type { CheckRun } from "../check-run.ts";
import type { Forge, ForgeComment, ForgePermission, PullRequest, Reaction } from "../forge.ts";

export const theSlug = "octo/demo";

export const aPull: PullRequest = {
  number: 7,
  state: "open",
  title: "Make it faster",
  author: "mona",
  head: "a".repeat(40),
  baseRef: "refs/heads/main",
  baseSha: "b".repeat(40),
  headRepository: "octo/demo",
  isFork: false,
  updatedAt: new Date("2030-01-01T00:00:00Z"),
};

/** A forge in memory, with its shown content and failures of calls. */
export interface RememberedForge extends Forge {
  readonly shown: {
    comments: ForgeComment[];
    readonly checks: Map<string, CheckRun>;
    readonly labels: Set<string>;
    readonly reactions: Map<string, Reaction>;
    readonly minimised: Set<string>;
  };
  pullNow: PullRequest | undefined;
  readonly permissions: Map<string, ForgePermission>;
  /** The names of all calls, in their order. */
  readonly calls: string[];
  /**
   * Called before a call is carried out, and after it was carried out and before it is answered;
   * throw to make the call fail there.
   */
  before: (call: string) => void | Promise<void>;
  after: (call: string) => void | Promise<void>;
  /** Writes another user's comment. */
  write(author: string, body: string): ForgeComment;
}

export function rememberedForge(): RememberedForge {
  const shown: RememberedForge["shown"] = {
    comments: [],
    checks: new Map(),
    labels: new Set(),
    reactions: new Map(),
    minimised: new Set(),
  };
  let lastId = 100;
  const calls: string[] = [];
  const addComment = (author: string, isOurs: boolean, pull: number, body: string) => {
    lastId += 1;
    const at = new Date(Date.UTC(2030, 0, 1, 0, 0, lastId));
    const comment: ForgeComment = {
      id: String(lastId),
      nodeId: `node-${lastId}`,
      pull,
      author,
      isOurs,
      body,
      createdAt: at,
      updatedAt: at,
    };
    shown.comments.push(comment);
    return comment;
  };
  const call = async <T>(name: string, work: () => T): Promise<T> => {
    calls.push(name);
    await forge.before(name);
    const answer = work();
    await forge.after(name);
    return answer;
  };
  const never = () => {
    throw new Error("no test asks for it");
  };

  const forge: RememberedForge = {
    kind: "github",
    shown,
    pullNow: aPull,
    permissions: new Map(),
    calls,
    before: () => {},
    after: () => {},
    write: (author, body) => addComment(author, false, 7, body),

    storedSlug: (written) => written,
    fetchAddress: never,
    refs: never,
    defaultBranch: never,
    examine: never,
    pullRequests: {
      list: never,
      find: () => call("pull", () => forge.pullNow),
      permission: (_, login) => call("permission", () => forge.permissions.get(login) ?? "read"),
      standing: never,
      accountOf: (login) => login.toLowerCase(),
    },
    comments: {
      list: never,
      ofPull: (_, pull) =>
        call("commentsOf", () => shown.comments.filter((each) => each.pull === pull)),
      create: (_, pull, body) =>
        call("createComment", () => addComment("grange[bot]", true, pull, body)),
      update: (_, id, body) =>
        call("updateComment", () => {
          shown.comments = shown.comments.map((each) =>
            each.id === id ? { ...each, body } : each,
          );
        }),
      delete: (_, id) =>
        call("deleteComment", () => {
          shown.comments = shown.comments.filter((each) => each.id !== id);
        }),
      minimise: (_, node) =>
        call("minimiseComment", () => {
          shown.minimised.add(node);
        }),
      react: (_, comment, reaction) =>
        call("react", () => {
          shown.reactions.set(comment, reaction);
        }),
    },
    checks: {
      list: (_, sha) =>
        call("checksOf", () =>
          [...shown.checks].flatMap(([id, check]) =>
            check.sha === sha ? [{ id, externalId: check.externalId }] : [],
          ),
        ),
      create: (_, check) =>
        call("createCheck", () => {
          lastId += 1;
          shown.checks.set(String(lastId), check);
          return String(lastId);
        }),
      update: (_, id, check) =>
        call("updateCheck", () => {
          shown.checks.set(id, check);
        }),
    },
    labels: {
      list: () => call("labelsOf", () => [...shown.labels]),
      add: (_, __, labels) =>
        call("addLabels", () => {
          for (const label of labels) shown.labels.add(label);
        }),
      remove: (_, __, label) =>
        call("removeLabel", () => {
          shown.labels.delete(label);
        }),
    },
  };
  return forge;
}
