import type { FakeState, RepositoryState } from "./fake-state.ts";
import type { GitStore } from "./git-store.ts";
import { pushPayload, refPayload } from "./webhook-payloads.ts";
import type { WebhookSender } from "./webhook-sender.ts";

/** Moves, makes and deletes refs of a repository, and sends the webhooks. */
export function refMover(
  state: FakeState,
  repository: RepositoryState & { readonly git: GitStore },
  webhooks: WebhookSender,
) {
  const { git } = repository;
  return async (
    ref: string,
    to: string | undefined,
    how: { by: string; subject?: string; told?: string },
  ) => {
    const before = git.refs.get(ref);
    await git.setRef(ref, to);
    if (ref.startsWith("refs/tags/")) {
      if (to === undefined) repository.tags.delete(ref.slice(10));
      else repository.tags.set(ref.slice(10), how.told ?? to);
    }
    repository.pushedAt = state.now();
    webhooks.emit(
      "push",
      pushPayload(state, repository, {
        ref,
        before,
        after: to,
        isForced: before !== undefined && to !== undefined && !git.isAncestor(before, to),
        subject: how.subject ?? "",
        by: how.by,
      }),
      repository,
    );
    if (before === undefined)
      webhooks.emit("create", refPayload(state, repository, "create", ref, how.by), repository);
    if (to === undefined)
      webhooks.emit("delete", refPayload(state, repository, "delete", ref, how.by), repository);
  };
}
