import type { components } from "openapi-types-of-github";
import {
  type FakeState,
  nodeId,
  type RepositoryState,
  slugOf,
  stamp,
  userId,
} from "./fake-state.ts";

type Schemas = components["schemas"];

export function userAnswer(state: FakeState, login: string): Schemas["simple-user"] {
  const id = userId(state, login);
  const url = `${state.url}/users/${encodeURIComponent(login)}`;
  const isBot = login.endsWith("[bot]");
  return {
    login,
    id,
    node_id: nodeId(isBot ? "BOT" : "U", id),
    avatar_url: `${state.url}/avatars/${id}`,
    gravatar_id: "",
    url,
    html_url: `${state.url}/${encodeURIComponent(login)}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: isBot ? "Bot" : "User",
    site_admin: false,
  } satisfies Schemas["simple-user"];
}

export function repositoryAnswer(
  state: FakeState,
  repository: RepositoryState,
): Schemas["repository"] {
  const slug = slugOf(repository);
  const url = `${state.url}/repos/${slug}`;
  const html = `${state.url}/${slug}`;
  const at = stamp(repository.createdAt);
  return {
    id: repository.id,
    node_id: nodeId("R", repository.id),
    name: repository.name,
    full_name: slug,
    owner: userAnswer(state, repository.owner),
    private: repository.isPrivate,
    visibility: repository.isPrivate ? "private" : "public",
    html_url: html,
    description: null,
    fork: repository.isFork,
    url,
    archive_url: `${url}/{archive_format}{/ref}`,
    assignees_url: `${url}/assignees{/user}`,
    blobs_url: `${url}/git/blobs{/sha}`,
    branches_url: `${url}/branches{/branch}`,
    collaborators_url: `${url}/collaborators{/collaborator}`,
    comments_url: `${url}/comments{/number}`,
    commits_url: `${url}/commits{/sha}`,
    compare_url: `${url}/compare/{base}...{head}`,
    contents_url: `${url}/contents/{+path}`,
    contributors_url: `${url}/contributors`,
    deployments_url: `${url}/deployments`,
    downloads_url: `${url}/downloads`,
    events_url: `${url}/events`,
    forks_url: `${url}/forks`,
    git_commits_url: `${url}/git/commits{/sha}`,
    git_refs_url: `${url}/git/refs{/sha}`,
    git_tags_url: `${url}/git/tags{/sha}`,
    git_url: `git://localhost/${slug}.git`,
    issue_comment_url: `${url}/issues/comments{/number}`,
    issue_events_url: `${url}/issues/events{/number}`,
    issues_url: `${url}/issues{/number}`,
    keys_url: `${url}/keys{/key_id}`,
    labels_url: `${url}/labels{/name}`,
    languages_url: `${url}/languages`,
    merges_url: `${url}/merges`,
    milestones_url: `${url}/milestones{/number}`,
    notifications_url: `${url}/notifications{?since,all,participating}`,
    pulls_url: `${url}/pulls{/number}`,
    releases_url: `${url}/releases{/id}`,
    ssh_url: `git@localhost:${slug}.git`,
    stargazers_url: `${url}/stargazers`,
    statuses_url: `${url}/statuses/{sha}`,
    subscribers_url: `${url}/subscribers`,
    subscription_url: `${url}/subscription`,
    tags_url: `${url}/tags`,
    teams_url: `${url}/teams`,
    trees_url: `${url}/git/trees{/sha}`,
    clone_url: `${html}.git`,
    mirror_url: null,
    hooks_url: `${url}/hooks`,
    svn_url: html,
    homepage: null,
    language: null,
    license: null,
    forks: 0,
    forks_count: 0,
    stargazers_count: 0,
    watchers: 0,
    watchers_count: 0,
    size: 1,
    default_branch: "main",
    open_issues: 0,
    open_issues_count: 0,
    is_template: false,
    topics: [],
    has_issues: true,
    has_projects: true,
    has_wiki: true,
    has_pages: false,
    has_downloads: true,
    has_discussions: false,
    archived: false,
    disabled: false,
    allow_forking: true,
    web_commit_signoff_required: false,
    pushed_at: stamp(repository.pushedAt),
    created_at: at,
    updated_at: at,
  } satisfies Schemas["repository"];
}

export function fullRepositoryAnswer(
  state: FakeState,
  repository: RepositoryState,
): Schemas["full-repository"] {
  const {
    code_search_index_status: _index,
    starred_at: _at,
    temp_clone_token: _token,
    ...rest
  } = repositoryAnswer(state, repository);
  const at = stamp(repository.createdAt);
  return {
    ...rest,
    has_discussions: false,
    pushed_at: stamp(repository.pushedAt),
    created_at: at,
    updated_at: at,
    subscribers_count: 0,
    network_count: 0,
  } satisfies Schemas["full-repository"];
}

export function permissionAnswer(
  state: FakeState,
  repository: RepositoryState,
  login: string,
): Schemas["repository-collaborator-permission"] {
  const { permission, role } = repository.permissions.get(login) ?? {
    permission: repository.isPrivate ? "none" : "read",
    role: repository.isPrivate ? "none" : "read",
  };
  return {
    permission,
    role_name: role,
    user: {
      ...userAnswer(state, login),
      role_name: role,
      permissions: {
        pull: permission !== "none",
        triage: role !== "read" && permission !== "none",
        push: permission === "write" || permission === "admin",
        maintain: role === "maintain" || role === "admin",
        admin: permission === "admin",
      },
    },
  } satisfies Schemas["repository-collaborator-permission"];
}
