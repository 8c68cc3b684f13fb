import { fullRepositoryAnswer, permissionAnswer } from "../account-answers.ts";
import { nodeId } from "../fake-state.ts";
import { pullAnswer, shortPullAnswer } from "../pull-answers.ts";
import { pullOf, Refusal, type Route, repositoryOf, slugOf } from "./route.ts";

/** Commits, branches, pull requests, and permissions. */
export const repositoryRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/repos/{owner}/{repo}",
    by: "installation",
    needs: ["metadata", "read"],
    handle: (call) => ({
      status: 200,
      body: fullRepositoryAnswer(call.state, repositoryOf(call)),
    }),
  },
  {
    method: "GET",
    path: "/repos/{owner}/{repo}/branches",
    by: "installation",
    needs: ["contents", "read"],
    handle(call) {
      const repository = repositoryOf(call);
      const url = `${call.state.url}/repos/${slugOf(repository)}/commits`;
      const list = [...(repository.git?.refs ?? [])]
        .filter(([ref]) => ref.startsWith("refs/heads/"))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([ref, sha]) => () => ({
          name: ref.slice("refs/heads/".length),
          commit: { sha, url: `${url}/${sha}` },
          protected: false,
        }));
      return { status: 200, list };
    },
  },
  {
    method: "GET",
    path: "/repos/{owner}/{repo}/tags",
    by: "installation",
    needs: ["contents", "read"],
    handle(call) {
      const repository = repositoryOf(call);
      const url = `${call.state.url}/repos/${slugOf(repository)}`;
      const list = [...repository.tags].map(([name, sha]) => () => ({
        name,
        commit: { sha, url: `${url}/commits/${sha}` },
        zipball_url: `${url}/zipball/refs/tags/${name}`,
        tarball_url: `${url}/tarball/refs/tags/${name}`,
        node_id: nodeId("REF", repository.id),
      }));
      return { status: 200, list };
    },
  },
  {
    method: "GET",
    path: "/repos/{owner}/{repo}/git/ref/{ref}",
    by: "installation",
    needs: ["contents", "read"],
    handle(call) {
      const repository = repositoryOf(call);
      const ref = `refs/${call.parameters["ref"]}`;
      const sha = repository.git?.refs.get(ref);
      if (sha === undefined) throw new Refusal(404, "Not Found");
      const url = `${call.state.url}/repos/${slugOf(repository)}/git`;
      return {
        status: 200,
        body: {
          ref,
          node_id: nodeId("REF", repository.id),
          url: `${url}/${ref}`,
          object: { type: "commit", sha, url: `${url}/commits/${sha}` },
        },
      };
    },
  },
  {
    method: "GET",
    path: "/repos/{owner}/{repo}/pulls",
    by: "installation",
    needs: ["pull_requests", "read"],
    handle(call) {
      const repository = repositoryOf(call);
      const { query } = call;
      const state = query.get("state") ?? "open";
      const isByUpdate = query.get("sort") === "updated";
      const sign = (query.get("direction") ?? "desc") === "desc" ? -1 : 1;
      const list = [...repository.pulls.values()]
        .filter((pull) => state === "all" || pull.state === state)
        .sort(
          (a, b) =>
            sign *
            ((isByUpdate ? a.updatedAt.getTime() - b.updatedAt.getTime() : 0) ||
              a.number - b.number),
        )
        .map((pull) => () => shortPullAnswer(call.state, repository, pull));
      return { status: 200, list };
    },
  },
  {
    method: "GET",
    path: "/repos/{owner}/{repo}/pulls/{pull_number}",
    by: "installation",
    needs: ["pull_requests", "read"],
    handle(call) {
      const repository = repositoryOf(call);
      const pull = pullOf(repository, call.parameters["pull_number"]);
      return { status: 200, body: pullAnswer(call.state, repository, pull) };
    },
  },
  {
    method: "GET",
    path: "/repos/{owner}/{repo}/collaborators/{username}/permission",
    by: "installation",
    needs: ["metadata", "read"],
    handle(call) {
      const repository = repositoryOf(call);
      const login = call.parameters["username"] ?? "";
      // Such a login has no account at GitHub; every account that commented or received a
      // permission exists.
      if (login.startsWith("nobody")) throw new Refusal(404, `${login} is not a user`);
      return { status: 200, body: permissionAnswer(call.state, repository, login) };
    },
  },
];
