import { z } from "zod";
import type { ForgeComments, ForgeLabels } from "../forge.ts";
import { Anything, Comment, forgeComment, isOnPull, Label } from "./github-answers.ts";
import { type GitHubClient, placeOf } from "./github-client.ts";
import { listedTwice } from "./listed-twice.ts";
import { orNothing } from "./read-repository.ts";

const Minimised = z.object({
  minimizeComment: z.object({ minimizedComment: z.object({ isMinimized: z.literal(true) }) }),
});

/** Comments and reactions. For GitHub's API, a pull request is an issue here. */
export function comments(client: GitHubClient): ForgeComments {
  const oneComment = "/repos/{owner}/{repo}/issues/comments/{comment_id}";
  const bot = async () => (await client.identity()).bot;

  return {
    list: (slug, changedSince) =>
      client.within(slug, async (as) => {
        const parameters = {
          ...placeOf(slug),
          // GitHub counts whole seconds, so comments of the same second are requested again.
          since: `${changedSince.toISOString().slice(0, 19)}Z`,
          // Sorted by creation: if sorted by change, an edit during reading would move a comment from an unread page to
          // one already read.
          sort: "created",
          direction: "asc",
        };
        const all = await listedTwice(
          () => as.list(Comment, "GET /repos/{owner}/{repo}/issues/comments", parameters),
          (comment) => comment.id,
        );
        const login = await bot();
        return oldestFirst(all.filter(isOnPull).map((one) => forgeComment(one, login)));
      }),

    ofPull: (slug, pull) =>
      client.within(slug, async (as) => {
        const all = await as.list(
          Comment,
          "GET /repos/{owner}/{repo}/issues/{issue_number}/comments",
          { ...placeOf(slug), issue_number: pull },
        );
        const login = await bot();
        return oldestFirst(all.map((one) => forgeComment(one, login)));
      }),

    create: (slug, pull, body) =>
      client.within(slug, async (as) => {
        const login = await bot();
        const made = await as.write(
          Comment,
          "POST /repos/{owner}/{repo}/issues/{issue_number}/comments",
          { ...placeOf(slug), issue_number: pull, body },
        );
        return forgeComment(made, login);
      }),

    update: (slug, id, body) =>
      client.within(slug, async (as) => {
        await as.write(Anything, `PATCH ${oneComment}`, { ...placeOf(slug), comment_id: id, body });
      }),

    // A comment that was already deleted counts as success.
    delete: (slug, id) =>
      client.within(slug, async (as) => {
        const parameters = { ...placeOf(slug), comment_id: id };
        await orNothing(as.write(Anything, `DELETE ${oneComment}`, parameters));
      }),

    minimise: (slug, nodeId) =>
      client.within(slug, async (as) => {
        await as.graphql(
          Minimised,
          `mutation minimise($id: ID!) {
            minimizeComment(input: { subjectId: $id, classifier: OUTDATED }) {
              minimizedComment { isMinimized }
            }
          }`,
          { id: nodeId },
        );
      }),

    react: (slug, comment, reaction) =>
      client.within(slug, async (as) => {
        await as.write(Anything, `POST ${oneComment}/reactions`, {
          ...placeOf(slug),
          comment_id: comment,
          content: reaction,
        });
      }),
  };
}

/** Labels of pull requests, which are issues to GitHub here. */
export function labels(client: GitHubClient): ForgeLabels {
  const labelsOfOne = "/repos/{owner}/{repo}/issues/{issue_number}/labels";
  return {
    list: (slug, pull) =>
      client.within(slug, async (as) => {
        const parameters = { ...placeOf(slug), issue_number: pull };
        return (await as.list(Label, `GET ${labelsOfOne}`, parameters)).map((label) => label.name);
      }),

    add: (slug, pull, labels) =>
      client.within(slug, async (as) => {
        // Without any, GitHub would answer 422.
        if (labels.length === 0) return;
        const parameters = { ...placeOf(slug), issue_number: pull, labels };
        await as.write(Anything, `POST ${labelsOfOne}`, parameters);
      }),

    remove: (slug, pull, label) =>
      client.within(slug, async (as) => {
        const parameters = { ...placeOf(slug), issue_number: pull, name: label };
        await orNothing(as.write(Anything, `DELETE ${labelsOfOne}/{name}`, parameters));
      }),
  };
}

function oldestFirst<One extends { readonly createdAt: Date; readonly id: string }>(
  all: readonly One[],
): One[] {
  return all.toSorted(
    (a, b) => a.createdAt.getTime() - b.createdAt.getTime() || Number(a.id) - Number(b.id),
  );
}
