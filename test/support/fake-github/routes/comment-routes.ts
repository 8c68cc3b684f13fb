import { z } from "zod";
import { addComment, emitComment } from "../comment-effects.ts";
import { type CommentState, type PullState, type RepositoryState, record } from "../fake-state.ts";
import { commentAnswer, labelAnswer, reactionAnswer } from "../pull-answers.ts";
import { pullPayload } from "../webhook-payloads.ts";
import {
  bodyOf,
  type Call,
  commentOf,
  pullOf,
  Refusal,
  type Route,
  repositoryOf,
  slugOf,
} from "./route.ts";

/** GitHub limits the characters of a comment, and responds with 422 to more. */
const Body = z.object({ body: z.string().min(1).max(65_536) });
const Reaction = z.object({
  content: z.enum(["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"]),
});
const Labels = z.object({ labels: z.array(z.string().min(1)).min(1) });

const oneComment = "/repos/{owner}/{repo}/issues/comments/{comment_id}";
const commentsOfOne = "/repos/{owner}/{repo}/issues/{issue_number}/comments";
const labelsOfOne = "/repos/{owner}/{repo}/issues/{issue_number}/labels";

function sinceOf(call: Call): (comment: CommentState) => boolean {
  const since = Date.parse(call.query.get("since") ?? "1970-01-01T00:00:00Z");
  if (Number.isNaN(since)) throw new Refusal(422, "since is no time");
  return (comment) => Math.floor(comment.updatedAt.getTime() / 1_000) * 1_000 >= since;
}

function ownPull(call: Call): { readonly repository: RepositoryState; readonly pull: PullState } {
  const repository = repositoryOf(call);
  return { repository, pull: pullOf(repository, call.parameters["issue_number"]) };
}

function ownComment(call: Call): {
  readonly repository: RepositoryState;
  readonly comment: CommentState;
} {
  const repository = repositoryOf(call);
  return { repository, comment: commentOf(repository, call.parameters["comment_id"]) };
}

function note(
  call: Call,
  what: Parameters<typeof record>[1]["what"],
  repository: RepositoryState,
  pull: number,
  id: string | number,
  text: string,
): void {
  record(call.state, { what, repository: slugOf(repository), pull, id: String(id), text });
}

/** Adds or removes a label: changes the state, records it, and sends a webhook. */
function changeLabel(call: Call, action: "labeled" | "unlabeled", label: string): void {
  const { state, webhooks } = call;
  const { repository, pull } = ownPull(call);
  if (action === "labeled") pull.labels.add(label);
  else pull.labels.delete(label);
  pull.updatedAt = state.now();
  const what = action === "labeled" ? "label added" : "label removed";
  note(call, what, repository, pull.number, label, label);
  const payload = pullPayload(state, repository, pull, action, state.bot, { label });
  webhooks.emit("pull_request", payload, repository);
}

function labelsOf(call: Call) {
  const { repository, pull } = ownPull(call);
  return [...pull.labels].map((name) => () => labelAnswer(call.state, repository, name));
}

/** All of them use the installation's token, and need the same permission. */
function route(
  method: Route["method"],
  path: string,
  level: "read" | "write",
  handle: Route["handle"],
): Route {
  return { method, path, by: "installation", needs: ["pull_requests", level], handle };
}

export const commentRoutes: readonly Route[] = [
  route("GET", "/repos/{owner}/{repo}/issues/comments", "read", (call) => {
    const repository = repositoryOf(call);
    const isByUpdate = call.query.get("sort") === "updated";
    const sign = call.query.get("direction") === "desc" ? -1 : 1;
    const list = [...repository.comments.values()]
      .filter(sinceOf(call))
      .sort(
        (a, b) =>
          sign * ((isByUpdate ? a.updatedAt.getTime() - b.updatedAt.getTime() : 0) || a.id - b.id),
      )
      .map((comment) => () => commentAnswer(call.state, repository, comment));
    return { status: 200, list };
  }),
  route("GET", commentsOfOne, "read", (call) => {
    const { repository, pull } = ownPull(call);
    const list = [...repository.comments.values()]
      .filter((comment) => comment.pull === pull.number)
      .filter(sinceOf(call))
      .map((comment) => () => commentAnswer(call.state, repository, comment));
    return { status: 200, list };
  }),
  route("POST", commentsOfOne, "write", (call) => {
    const { state, webhooks } = call;
    const { repository, pull } = ownPull(call);
    const { body } = bodyOf(Body, call);
    const comment = addComment(state, repository, pull, state.bot, body);
    note(call, "comment created", repository, pull.number, comment.id, body);
    emitComment(state, repository, webhooks, comment, "created", state.bot);
    return { status: 201, body: commentAnswer(state, repository, comment) };
  }),
  route("PATCH", oneComment, "write", (call) => {
    const { state, webhooks } = call;
    const { repository, comment } = ownComment(call);
    const { body } = bodyOf(Body, call);
    const was = comment.body;
    comment.body = body;
    comment.updatedAt = state.now();
    note(call, "comment updated", repository, comment.pull, comment.id, body);
    emitComment(state, repository, webhooks, comment, "edited", state.bot, was);
    return { status: 200, body: commentAnswer(state, repository, comment) };
  }),
  route("DELETE", oneComment, "write", (call) => {
    const { repository, comment } = ownComment(call);
    repository.comments.delete(comment.id);
    note(call, "comment deleted", repository, comment.pull, comment.id, comment.body);
    emitComment(call.state, repository, call.webhooks, comment, "deleted", call.state.bot);
    return { status: 204 };
  }),
  route("POST", `${oneComment}/reactions`, "write", (call) => {
    const { repository, comment } = ownComment(call);
    const { content } = bodyOf(Reaction, call);
    const by = call.state.bot;
    const known = comment.reactions.find((one) => one.content === content && one.by === by);
    if (known !== undefined) return { status: 200, body: reactionAnswer(call.state, known) };
    const reaction = { id: call.state.nextId(), content, by };
    comment.reactions.push(reaction);
    note(call, "reaction added", repository, comment.pull, comment.id, content);
    return { status: 201, body: reactionAnswer(call.state, reaction) };
  }),
  route("GET", labelsOfOne, "read", (call) => ({ status: 200, list: labelsOf(call) })),
  route("POST", labelsOfOne, "write", (call) => {
    const { pull } = ownPull(call);
    for (const label of bodyOf(Labels, call).labels) {
      if (!pull.labels.has(label)) changeLabel(call, "labeled", label);
    }
    return { status: 200, body: labelsOf(call).map((each) => each()) };
  }),
  route("DELETE", `${labelsOfOne}/{name}`, "write", (call) => {
    const { pull } = ownPull(call);
    const label = call.parameters["name"] ?? "";
    if (!pull.labels.has(label)) throw new Refusal(404, "Label does not exist");
    changeLabel(call, "unlabeled", label);
    return { status: 200, body: labelsOf(call).map((each) => each()) };
  }),
];
