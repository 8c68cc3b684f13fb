import { createRequire } from "node:module";
import { repositoryAnswer, userAnswer } from "./account-answers.ts";
import {
  type CommentState,
  type FakeState,
  installationId,
  nodeId,
  type PullState,
  type RepositoryState,
  slugOf,
  stamp,
} from "./fake-state.ts";
import { commentAnswer, labelAnswer, pullAnswer } from "./pull-answers.ts";

type Json = Readonly<Record<string, unknown>>;

interface Definition {
  readonly name: string;
  readonly examples: readonly Json[];
}

// Loaded without an import: for a JSON module, Node would need an attribute and bundlers another
// one.
const definitions = createRequire(import.meta.url)(
  "@octokit/webhooks-examples",
) as readonly Definition[];

/** Returns GitHub's own example of an event, on which each payload is based. */
export function exampleOf(event: string, action?: string): Json {
  const examples = definitions.find((one) => one.name === event)?.examples ?? [];
  const fit = examples.filter((one) => action === undefined || one["action"] === action);
  const best = fit.find((one) => "installation" in one && !("organization" in one)) ?? fit[0];
  if (best === undefined) throw new Error(`GitHub shows no example of ${event} ${action ?? ""}`);
  return best;
}

function payload(
  state: FakeState,
  event: string,
  action: string | undefined,
  repository: RepositoryState,
  sender: string,
  rest: Json,
): Json {
  const example = exampleOf(event, action);
  const id = installationId(state, repository.owner);
  const repositoryExample = (example["repository"] ?? {}) as Json;
  return {
    ...example,
    repository: {
      ...repositoryExample,
      ...repositoryAnswer(state, repository),
      // Pushes contain these two times as seconds.
      ...(event === "push"
        ? {
            created_at: seconds(repository.createdAt),
            pushed_at: seconds(repository.pushedAt),
            owner: {
              ...(repositoryExample["owner"] as Json),
              ...userAnswer(state, repository.owner),
              name: repository.owner,
            },
          }
        : {}),
    },
    sender: userAnswer(state, sender),
    installation: { id, node_id: nodeId("MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9u", id) },
    ...rest,
  };
}

const seconds = (date: Date) => Math.floor(date.getTime() / 1_000);
const nothing = "0".repeat(40);

interface PushEffect {
  readonly ref: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly isForced: boolean;
  readonly subject: string;
  readonly by: string;
}

export function pushPayload(
  state: FakeState,
  repository: RepositoryState,
  effect: PushEffect,
): Json {
  const example = exampleOf("push");
  const url = `${state.url}/${slugOf(repository)}`;
  const person = { name: effect.by, email: `${effect.by}@users.example.org`, username: effect.by };
  const after = effect.after ?? nothing;
  const commit = {
    id: after,
    tree_id: after,
    distinct: true,
    message: effect.subject,
    timestamp: stamp(state.now()),
    url: `${url}/commit/${after}`,
    author: person,
    committer: person,
    added: [],
    removed: [],
    modified: [],
  };
  return payload(state, "push", undefined, repository, effect.by, {
    ref: effect.ref,
    before: effect.before ?? nothing,
    after,
    created: effect.before === undefined,
    deleted: effect.after === undefined,
    forced: effect.isForced,
    base_ref: null,
    compare: `${url}/compare/${effect.before ?? nothing}...${after}`,
    commits: effect.after === undefined ? [] : [commit],
    head_commit: effect.after === undefined ? null : commit,
    pusher: { ...(example["pusher"] as Json), name: effect.by, email: person.email },
  });
}

/** `create` and `delete`, which are sent with a push that made or deleted a ref. */
export function refPayload(
  state: FakeState,
  repository: RepositoryState,
  event: "create" | "delete",
  ref: string,
  by: string,
): Json {
  const [, kind, name] = /^refs\/(heads|tags)\/(.+)$/.exec(ref) ?? [];
  return payload(state, event, undefined, repository, by, {
    ref: name,
    ref_type: kind === "tags" ? "tag" : "branch",
    ...(event === "create" ? { master_branch: "main", description: null } : {}),
    pusher_type: "user",
  });
}

export function pullPayload(
  state: FakeState,
  repository: RepositoryState,
  pull: PullState,
  action: "opened" | "synchronize" | "closed" | "reopened" | "labeled" | "unlabeled",
  by: string,
  rest: { readonly before?: string; readonly label?: string } = {},
): Json {
  const example = exampleOf("pull_request", action)["pull_request"] as Json;
  const answer = pullAnswer(state, repository, pull);
  // Webhooks contain a field of repositories that the REST API's description does not have.
  const asWebhooksTell = (repo: Json | null) => repo && { custom_properties: {}, ...repo };
  return payload(state, "pull_request", action, repository, by, {
    action,
    number: pull.number,
    pull_request: {
      ...example,
      ...answer,
      head: { ...answer.head, repo: asWebhooksTell(answer.head.repo) },
      base: { ...answer.base, repo: asWebhooksTell(answer.base.repo) },
    },
    ...(rest.before === undefined ? {} : { before: rest.before, after: pull.head }),
    ...(rest.label === undefined ? {} : { label: labelAnswer(state, repository, rest.label) }),
  });
}

export function commentPayload(
  state: FakeState,
  repository: RepositoryState,
  pull: PullState,
  comment: CommentState,
  action: "created" | "edited" | "deleted",
  by: string,
  was?: string,
): Json {
  const example = exampleOf("issue_comment", action);
  const issue = example["issue"] as Json;
  const full = pullAnswer(state, repository, pull);
  const api = `${state.url}/repos/${slugOf(repository)}/issues/${pull.number}`;
  return payload(state, "issue_comment", action, repository, by, {
    action,
    ...(was === undefined ? {} : { changes: { body: { from: was } } }),
    issue: {
      ...issue,
      url: api,
      repository_url: `${state.url}/repos/${slugOf(repository)}`,
      labels_url: `${api}/labels{/name}`,
      comments_url: `${api}/comments`,
      events_url: `${api}/events`,
      html_url: full.html_url,
      id: pull.id,
      node_id: full.node_id,
      number: pull.number,
      title: pull.title,
      user: full.user,
      state: pull.state,
      labels: full.labels,
      comments: full.comments,
      created_at: full.created_at,
      updated_at: full.updated_at,
      closed_at: full.closed_at,
      body: null,
      // Only this field distinguishes a comment on a pull request from one on an issue.
      pull_request: {
        url: full.url,
        html_url: full.html_url,
        diff_url: full.diff_url,
        patch_url: full.patch_url,
      },
    },
    comment: { ...(example["comment"] as Json), ...commentAnswer(state, repository, comment) },
  });
}

export function pingPayload(state: FakeState): Json {
  const example = exampleOf("ping");
  return { ...example, hook_id: 1, hook: { ...(example["hook"] as Json), app_id: state.appId } };
}
