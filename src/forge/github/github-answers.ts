import { z } from "zod";
import type { ForgeComment, ForgePermission, PullRequest } from "../forge.ts";
import type { ForgeDelivery } from "../webhooks/forge-webhooks.ts";

// The used parts of GitHub's answers, by its field names. All others are ignored.

/** Ids of deliveries exceed the exact range of JavaScript numbers; octokit returns these as bigint. */
const Id = z.union([z.number().int(), z.bigint()]).transform(String);
const Instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
const Sha = z.string().regex(/^[0-9a-f]{40}$/);
/** Null for a deleted account, which GitHub's pages show as `ghost`. */
const Login = z
  .object({ login: z.string() })
  .nullish()
  .transform((user) => user?.login ?? "ghost");

export const Repository = z.object({
  default_branch: z.string(),
  private: z.boolean(),
  clone_url: z.url({ protocol: /^https?$/ }),
});
export const Branch = z.object({ name: z.string(), commit: z.object({ sha: Sha }) });
/** GitHub names the commit of an annotated tag here, not the tag's own object. */
export const Tag = Branch;
export const Reference = z.object({ object: z.object({ sha: Sha }) });

export const Pull = z.object({
  number: z.number().int(),
  state: z.enum(["open", "closed"]),
  merged_at: Instant.nullish(),
  title: z.string(),
  user: Login,
  // GitHub's API description declares `repo` as always present, but it is null after the fork was deleted.
  head: z.object({ sha: Sha, repo: z.object({ id: Id, full_name: z.string() }).nullish() }),
  base: z.object({ ref: z.string(), repo: z.object({ id: Id }) }),
  updated_at: Instant,
});
export type Pull = z.infer<typeof Pull>;

/**
 * Converts a pull request.
 *
 * Its `base.sha` is the base at the last move of the pull request's head, not the current one, so `baseSha` is
 * requested separately.
 */
export function pullRequest(pull: Pull, baseSha: string): PullRequest {
  return {
    number: pull.number,
    state: pull.merged_at ? "merged" : pull.state,
    title: pull.title,
    author: pull.user,
    head: pull.head.sha,
    baseRef: `refs/heads/${pull.base.ref}`,
    baseSha,
    headRepository: pull.head.repo?.full_name,
    // A deleted repository was a fork, because the base repository cannot be deleted.
    isFork: pull.head.repo?.id !== pull.base.repo.id,
    updatedAt: pull.updated_at,
  };
}

export const Comment = z.object({
  id: Id,
  node_id: z.string(),
  html_url: z.string(),
  issue_url: z.string(),
  user: z.object({ login: z.string(), type: z.string() }).nullish(),
  body: z.string().nullish(),
  created_at: Instant,
  updated_at: Instant,
});
export type Comment = z.infer<typeof Comment>;

/** Issues and pull requests share their comments; only the address tells them apart. */
export function isOnPull(comment: Comment): boolean {
  return /\/pull\/[0-9]+(#|$)/.test(comment.html_url);
}

export function forgeComment(comment: Comment, bot: string): ForgeComment {
  return {
    id: comment.id,
    nodeId: comment.node_id,
    pull: Number(/\/([0-9]+)$/.exec(comment.issue_url)?.[1] ?? Number.NaN),
    author: comment.user?.login ?? "ghost",
    // Only logins of bots contain brackets. Comments that people write through an app are theirs.
    isOurs: comment.user?.type === "Bot" && comment.user.login === bot,
    body: comment.body ?? "",
    createdAt: comment.created_at,
    updatedAt: comment.updated_at,
  };
}

export const Collaborator = z.object({
  permission: z.string(),
  role_name: z.string().nullish(),
  user: z.object({ id: Id }).nullish(),
});

const permissions: readonly ForgePermission[] = [
  "admin",
  "maintain",
  "write",
  "triage",
  "read",
  "none",
];

/** `permission` has only four values; custom roles have their own name in `role_name`. */
export function forgePermission(one: z.infer<typeof Collaborator>): ForgePermission {
  const known = (word: unknown) => permissions.find((permission) => permission === word);
  return known(one.role_name) ?? known(one.permission) ?? "none";
}

export const Label = z.object({ name: z.string() });

export const CheckRunAnswer = z.object({ id: Id, external_id: z.string().nullish() });
export const Annotation = z.object({
  path: z.string(),
  start_line: z.number().int(),
  end_line: z.number().int(),
  annotation_level: z.string().nullish(),
  message: z.string().nullish(),
});

export const Delivery = z.object({
  id: Id,
  guid: z.string(),
  delivered_at: Instant,
  event: z.string(),
  status_code: z.number().int(),
  status: z.string(),
});
export type Delivery = z.infer<typeof Delivery>;

export function forgeDelivery(delivery: Delivery): ForgeDelivery {
  return {
    id: delivery.id,
    guid: delivery.guid,
    event: delivery.event,
    deliveredAt: delivery.delivered_at,
    wasTaken: delivery.status_code >= 200 && delivery.status_code < 300,
  };
}

const Permissions = z.record(z.string(), z.string());
export const App = z.object({
  id: Id,
  slug: z.string(),
  name: z.string(),
  permissions: Permissions,
  events: z.array(z.string()),
});
export const Installation = z.object({
  id: z.number().int(),
  permissions: Permissions,
  events: z.array(z.string()),
  suspended_at: Instant.nullish(),
});
export const WebhookConfig = z.object({
  url: z.string().nullish(),
  content_type: z.string().nullish(),
  secret: z.string().nullish(),
  insecure_ssl: z.union([z.string(), z.number()]).nullish(),
});

export const Anything = z.unknown();
