import {
  type CommentState,
  type FakeState,
  nodeId,
  type PullState,
  type RepositoryState,
} from "./fake-state.ts";
import { commentPayload } from "./webhook-payloads.ts";
import type { WebhookSender } from "./webhook-sender.ts";

export function addComment(
  state: FakeState,
  repository: RepositoryState,
  pull: PullState,
  author: string,
  body: string,
): CommentState {
  const id = state.nextId();
  const at = state.now();
  const comment: CommentState = {
    id,
    nodeId: nodeId("IC", id),
    pull: pull.number,
    author,
    isBot: author === state.bot,
    body,
    isMinimised: false,
    reactions: [],
    createdAt: at,
    updatedAt: at,
  };
  repository.comments.set(id, comment);
  pull.updatedAt = at;
  return comment;
}

export function emitComment(
  state: FakeState,
  repository: RepositoryState,
  webhooks: WebhookSender,
  comment: CommentState,
  action: "created" | "edited" | "deleted",
  by: string,
  was?: string,
): void {
  const pull = repository.pulls.get(comment.pull);
  if (pull === undefined) return;
  webhooks.emit(
    "issue_comment",
    commentPayload(state, repository, pull, comment, action, by, was),
    repository,
  );
}
