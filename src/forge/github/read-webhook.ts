import { z } from "zod";
import { Fault } from "#core/fault.ts";
import type { ReadWebhook } from "../webhooks/forge-webhooks.ts";
import type { Hint } from "../webhooks/hint.ts";

const Slug = z.string().regex(/^[A-Za-z0-9_.-]{1,100}\/[A-Za-z0-9_.-]{1,100}$/);
const Repository = z.object({ repository: z.object({ full_name: Slug }) });
const MaybeRepository = z.object({ repository: z.object({ full_name: Slug }).optional() });
const Number = z.number().int().positive().max(2_147_483_647);
const Sha = z.string().regex(/^[0-9a-f]{40}$/);
const Pull = Repository.extend({
  pull_request: z.object({
    number: Number,
    updated_at: z.iso.datetime(),
    head: z.object({ sha: Sha }),
  }),
});
const Comment = Repository.extend({
  issue: z.object({ number: Number, pull_request: z.looseObject({}).optional() }),
});

/** The content of a GitHub webhook; the slug is `owner/name` in lower case. */
type ReadGitHubWebhook = Pick<ReadWebhook, "slug" | "hint">;

/** Returns the hints in a webhook. Pure; the body is only known to come from the forge. */
export function readWebhook(event: string, body: unknown): ReadGitHubWebhook {
  const parse = <Shape extends z.ZodType>(shape: Shape): z.output<Shape> => {
    const parsed = shape.safeParse(body);
    if (parsed.success) return parsed.data;
    throw new Fault(
      "invalid_argument",
      `this does not have the form of GitHub's "${event}": ${z.prettifyError(parsed.error)}`.slice(
        0,
        1_000,
      ),
    );
  };
  const about = (named: { repository: { full_name: string } }, hint: Hint): ReadGitHubWebhook => ({
    slug: named.repository.full_name.toLowerCase(),
    hint,
  });

  switch (event) {
    case "push":
    case "create":
    case "delete":
      return about(parse(Repository), { about: "refs" });
    case "pull_request": {
      const read = parse(Pull);
      const { number, head, updated_at } = read.pull_request;
      return about(read, {
        about: "pull",
        number,
        headAt: { head: head.sha, at: new Date(updated_at).toISOString() },
      });
    }
    case "issue_comment": {
      const read = parse(Comment);
      const isOnPull = read.issue.pull_request !== undefined;
      return about(
        read,
        isOnPull ? { about: "comments", pull: read.issue.number } : { about: "nothing" },
      );
    }
    case "repository":
    case "public":
      return about(parse(Repository), { about: "all" });
    default: {
      const { repository } = parse(MaybeRepository);
      return { slug: repository?.full_name.toLowerCase() ?? "", hint: { about: "nothing" } };
    }
  }
}
