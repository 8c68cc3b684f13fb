import type { components } from "openapi-types-of-github";
import { repositoryAnswer, userAnswer } from "./account-answers.ts";
import { appAnswer } from "./app-answers.ts";
import {
  type CommentState,
  type FakeState,
  nodeId,
  type PullState,
  type RepositoryState,
  slugOf,
  stamp,
} from "./fake-state.ts";

type Schemas = components["schemas"];

export function labelAnswer(
  state: FakeState,
  repository: RepositoryState,
  name: string,
): Schemas["label"] {
  const id = repository.labels.get(name) ?? state.nextId();
  repository.labels.set(name, id);
  return {
    id,
    node_id: nodeId("LA", id),
    url: `${state.url}/repos/${slugOf(repository)}/labels/${encodeURIComponent(name)}`,
    name,
    description: "",
    color: "ededed",
    default: false,
  } satisfies Schemas["label"];
}

export function shortPullAnswer(
  state: FakeState,
  repository: RepositoryState,
  pull: PullState,
): Schemas["pull-request-simple"] {
  const slug = slugOf(repository);
  const url = `${state.url}/repos/${slug}/pulls/${pull.number}`;
  const issue = `${state.url}/repos/${slug}/issues/${pull.number}`;
  const html = `${state.url}/${slug}/pull/${pull.number}`;
  const statuses = `${state.url}/repos/${slug}/statuses/${pull.head}`;
  const { headRepository } = pull;
  // GitHub's description does not allow null here, but its responses contain it after a fork is
  // deleted.
  const headAnswer = headRepository.isDeleted
    ? (null as unknown as Schemas["repository"])
    : repositoryAnswer(state, headRepository);
  return {
    url,
    id: pull.id,
    node_id: nodeId("PR", pull.id),
    html_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    issue_url: issue,
    commits_url: `${url}/commits`,
    review_comments_url: `${url}/comments`,
    review_comment_url: `${state.url}/repos/${slug}/pulls/comments{/number}`,
    comments_url: `${issue}/comments`,
    statuses_url: statuses,
    number: pull.number,
    state: pull.state,
    locked: false,
    title: pull.title,
    user: userAnswer(state, pull.author),
    body: null,
    labels: [...pull.labels].map((name) => ({
      ...labelAnswer(state, repository, name),
      description: "",
    })),
    milestone: null,
    active_lock_reason: null,
    created_at: stamp(pull.createdAt),
    updated_at: stamp(pull.updatedAt),
    closed_at: pull.closedAt === undefined ? null : stamp(pull.closedAt),
    merged_at: pull.mergedAt === undefined ? null : stamp(pull.mergedAt),
    merge_commit_sha: pull.mergeCommit ?? null,
    assignee: null,
    assignees: [],
    requested_reviewers: [],
    requested_teams: [],
    head: {
      label: `${headRepository.owner}:${pull.branch}`,
      ref: pull.branch,
      sha: pull.head,
      user: userAnswer(state, headRepository.owner),
      repo: headAnswer,
    },
    base: {
      label: `${repository.owner}:${pull.base}`,
      ref: pull.base,
      sha: pull.baseSha,
      user: userAnswer(state, repository.owner),
      repo: repositoryAnswer(state, repository),
    },
    _links: {
      self: { href: url },
      html: { href: html },
      issue: { href: issue },
      comments: { href: `${issue}/comments` },
      review_comments: { href: `${url}/comments` },
      review_comment: { href: `${state.url}/repos/${slug}/pulls/comments{/number}` },
      commits: { href: `${url}/commits` },
      statuses: { href: statuses },
    },
    author_association: headRepository === repository ? "MEMBER" : "CONTRIBUTOR",
    auto_merge: null,
    draft: false,
  } satisfies Schemas["pull-request-simple"];
}

export function pullAnswer(
  state: FakeState,
  repository: RepositoryState,
  pull: PullState,
): Schemas["pull-request"] {
  const isMerged = pull.mergedAt !== undefined;
  const { requested_teams: _teams, ...rest } = shortPullAnswer(state, repository, pull);
  return {
    ...rest,
    state: pull.state,
    user: userAnswer(state, pull.author),
    head: { ...rest.head, user: userAnswer(state, pull.headRepository.owner) },
    base: { ...rest.base, user: userAnswer(state, repository.owner) },
    requested_teams: [],
    merged: isMerged,
    mergeable: isMerged ? null : true,
    rebaseable: isMerged ? null : true,
    mergeable_state: isMerged ? "unknown" : "clean",
    merged_by: isMerged ? userAnswer(state, repository.owner) : null,
    comments: [...repository.comments.values()].filter((one) => one.pull === pull.number).length,
    review_comments: 0,
    maintainer_can_modify: false,
    commits: 1,
    additions: 1,
    deletions: 0,
    changed_files: 1,
  } satisfies Schemas["pull-request"];
}

export function commentAnswer(
  state: FakeState,
  repository: RepositoryState,
  comment: CommentState,
): Schemas["issue-comment"] {
  const slug = slugOf(repository);
  const url = `${state.url}/repos/${slug}/issues/comments/${comment.id}`;
  const count = (content: string) =>
    comment.reactions.filter((reaction) => reaction.content === content).length;
  return {
    id: comment.id,
    node_id: comment.nodeId,
    url,
    html_url: `${state.url}/${slug}/pull/${comment.pull}#issuecomment-${comment.id}`,
    issue_url: `${state.url}/repos/${slug}/issues/${comment.pull}`,
    body: comment.body,
    user: userAnswer(state, comment.author),
    created_at: stamp(comment.createdAt),
    updated_at: stamp(comment.updatedAt),
    author_association: comment.isBot ? "NONE" : "MEMBER",
    performed_via_github_app: comment.isBot ? appAnswer(state) : null,
    reactions: {
      url: `${url}/reactions`,
      total_count: comment.reactions.length,
      "+1": count("+1"),
      "-1": count("-1"),
      laugh: count("laugh"),
      hooray: count("hooray"),
      confused: count("confused"),
      heart: count("heart"),
      rocket: count("rocket"),
      eyes: count("eyes"),
    },
  } satisfies Schemas["issue-comment"];
}

export function reactionAnswer(
  state: FakeState,
  reaction: CommentState["reactions"][number],
): Schemas["reaction"] {
  return {
    id: reaction.id,
    node_id: nodeId("REA", reaction.id),
    user: userAnswer(state, reaction.by),
    content: reaction.content as Schemas["reaction"]["content"],
    created_at: stamp(state.now()),
  } satisfies Schemas["reaction"];
}
