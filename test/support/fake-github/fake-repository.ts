import { Fault } from "#core/fault.ts";
import { addComment, emitComment } from "./comment-effects.ts";
import type { FakeRepository } from "./fake-github.ts";
import {
  type CommentState,
  type FakeState,
  type PullState,
  type RepositoryState,
  slugOf,
} from "./fake-state.ts";
import type { GitStore } from "./git-store.ts";
import { newRepositoryState } from "./new-repository-state.ts";
import { refMover } from "./ref-mover.ts";
import { pullPayload } from "./webhook-payloads.ts";
import type { WebhookSender } from "./webhook-sender.ts";

/** Actions of people in a repository, each with its webhooks. */
export function fakeRepository(
  state: FakeState,
  repository: RepositoryState & { readonly git: GitStore },
  webhooks: WebhookSender,
): FakeRepository {
  const { git } = repository;
  const slug = slugOf(repository);
  // One action after the other: a commit is complete before the next is made on top of it.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Answer>(effect: () => Promise<Answer>): Promise<Answer> => {
    const done = last.then(effect);
    last = done.catch(() => {});
    return done;
  };

  const pullOf = (number: number): PullState => {
    const pull = repository.pulls.get(number);
    if (pull === undefined) throw new Fault("not_found", `${slug} has no pull request ${number}`);
    return pull;
  };
  const commentOf = (id: number): CommentState => {
    const comment = repository.comments.get(id);
    if (comment === undefined) throw new Fault("not_found", `${slug} has no comment ${id}`);
    return comment;
  };
  const forkOf = (owner: string): RepositoryState => {
    const key = `${owner}/${repository.name}`.toLowerCase();
    const known = state.repositories.get(key);
    if (known !== undefined && !known.isDeleted) return known;
    const fork = newRepositoryState(state, `${owner}/${repository.name}`, { isFork: true });
    state.repositories.set(key, fork);
    return fork;
  };

  const moveRef = refMover(state, repository, webhooks);

  const emitPull = (
    pull: PullState,
    action: Parameters<typeof pullPayload>[3],
    by: string,
    rest?: Parameters<typeof pullPayload>[5],
  ) =>
    webhooks.emit(
      "pull_request",
      pullPayload(state, repository, pull, action, by, rest),
      repository,
    );

  const headOf = (branch: string) => git.refs.get(`refs/heads/${branch}`);

  return {
    slug,
    path: git.path,
    get cloneUrl() {
      return `${state.url}/${slug}.git`;
    },
    head: (ref) => git.refs.get(ref),

    push: (branch, files, options = {}) =>
      inTurn(async () => {
        const ref = `refs/heads/${branch}`;
        const onto = options.onto ?? git.refs.get(ref) ?? headOf("main");
        const by = options.by ?? "maintainer";
        const subject = options.subject ?? `Change ${Object.keys(files).join(", ")}`;
        const parents = onto === undefined ? [] : [onto];
        const at = state.now();
        const sha = await git.commit({ parents, from: onto, files, subject, by, at });
        await moveRef(ref, sha, { by, subject });
        return sha;
      }),

    tag: (name, sha, options = {}) =>
      inTurn(async () => {
        const object = options.annotated ? await git.annotatedTag(name, sha, state.now()) : sha;
        await moveRef(`refs/tags/${name}`, object, { by: "releaser", told: sha });
      }),

    deleteRef: (ref) => inTurn(() => moveRef(ref, undefined, { by: "maintainer" })),

    openPull: (options) =>
      inTurn(async () => {
        const base = options.base ?? "main";
        const baseSha = headOf(base);
        if (baseSha === undefined) throw new Fault("not_found", `${slug} has no branch ${base}`);
        const by = options.by ?? options.fork ?? "contributor";
        // Issues and pull requests are numbered together, from one.
        const number = repository.pulls.size + 1;
        const branch = options.branch ?? `topic-${number}`;
        const subject = options.title ?? `Pull request ${number}`;
        const at = state.now();
        const head = await git.commit({
          parents: [baseSha],
          from: baseSha,
          files: options.files,
          subject,
          by,
          at,
        });
        if (options.fork === undefined)
          await moveRef(`refs/heads/${branch}`, head, { by, subject });
        await git.setRef(`refs/pull/${number}/head`, head);
        const pull: PullState = {
          id: state.nextId(),
          number,
          state: "open",
          mergedAt: undefined,
          mergeCommit: undefined,
          closedAt: undefined,
          title: subject,
          author: by,
          branch,
          headRepository: options.fork === undefined ? repository : forkOf(options.fork),
          head,
          base,
          baseSha,
          labels: new Set(),
          createdAt: at,
          updatedAt: at,
        };
        repository.pulls.set(number, pull);
        emitPull(pull, "opened", by);
        return number;
      }),

    movePull: (number, files, options = {}) =>
      inTurn(async () => {
        const pull = pullOf(number);
        const before = pull.head;
        const baseSha = headOf(pull.base) ?? pull.baseSha;
        const by = options.by ?? pull.author;
        const onto = options.force ? baseSha : before;
        const subject = `Move pull request ${number}`;
        const at = state.now();
        pull.head = await git.commit({ parents: [onto], from: onto, files, subject, by, at });
        pull.baseSha = baseSha;
        pull.updatedAt = at;
        if (pull.headRepository === repository)
          await moveRef(`refs/heads/${pull.branch}`, pull.head, { by, subject });
        await git.setRef(`refs/pull/${number}/head`, pull.head);
        if (pull.state === "open") emitPull(pull, "synchronize", by, { before });
        return pull.head;
      }),

    closePull: (number, by = "maintainer") =>
      inTurn(async () => {
        const pull = pullOf(number);
        pull.state = "closed";
        pull.closedAt = pull.updatedAt = state.now();
        emitPull(pull, "closed", by);
      }),

    reopenPull: (number, by = "maintainer") =>
      inTurn(async () => {
        const pull = pullOf(number);
        pull.state = "open";
        pull.closedAt = undefined;
        pull.updatedAt = state.now();
        emitPull(pull, "reopened", by);
      }),

    mergePull: (number, by = "maintainer") =>
      inTurn(async () => {
        const pull = pullOf(number);
        const base = headOf(pull.base);
        if (base === undefined || pull.state !== "open")
          throw new Fault("failed_precondition", `pull request ${number} cannot be merged`);
        const at = state.now();
        const subject = `Merge pull request #${number}`;
        // Its changes, applied to the base: sufficient for files that no other pull request
        // changes.
        const files = git.changes(git.forkPoint(pull.head, base), pull.head);
        const parents = [base, pull.head];
        const sha = await git.commit({ parents, from: base, files, subject, by, at });
        pull.state = "closed";
        pull.mergedAt = pull.closedAt = pull.updatedAt = at;
        pull.mergeCommit = sha;
        await moveRef(`refs/heads/${pull.base}`, sha, { by, subject });
        emitPull(pull, "closed", by);
        return sha;
      }),

    deleteFork(owner) {
      const fork = state.repositories.get(`${owner}/${repository.name}`.toLowerCase());
      if (fork !== undefined) fork.isDeleted = true;
    },

    comment: (number, by, body) =>
      inTurn(async () => {
        const comment = addComment(state, repository, pullOf(number), by, body);
        emitComment(state, repository, webhooks, comment, "created", by);
        return comment.id;
      }),

    editComment: (id, body, by) =>
      inTurn(async () => {
        const comment = commentOf(id);
        const was = comment.body;
        comment.body = body;
        comment.updatedAt = state.now();
        emitComment(state, repository, webhooks, comment, "edited", by ?? comment.author, was);
      }),

    deleteComment: (id) =>
      inTurn(async () => {
        const comment = commentOf(id);
        repository.comments.delete(id);
        emitComment(state, repository, webhooks, comment, "deleted", comment.author);
      }),

    setPermission(login, permission) {
      // GitHub's older field for permissions has only four values.
      const old =
        permission === "maintain" ? "write" : permission === "triage" ? "read" : permission;
      repository.permissions.set(login, { permission: old, role: permission });
    },
    setRole(login, permission, role) {
      repository.permissions.set(login, { permission, role });
    },

    pullState(number) {
      const pull = pullOf(number);
      return {
        state: pull.mergedAt === undefined ? pull.state : "merged",
        head: pull.head,
        isFork: pull.headRepository !== repository,
      };
    },
    pulls: () => [...repository.pulls.keys()],
    comments: (number) =>
      [...repository.comments.values()].filter((comment) => comment.pull === number),
    checks: (sha) =>
      [...repository.checks.values()].filter((check) => sha === undefined || check.sha === sha),
    labels: (number) => [...pullOf(number).labels],
  };
}
