import { Fault } from "#core/fault.ts";
import type { Forge, ForgePullRequests, ForgeSlug } from "../forge.ts";
import {
  Branch,
  Collaborator,
  forgePermission,
  Pull,
  pullRequest,
  Reference,
  Repository,
  Tag,
} from "./github-answers.ts";
import type { GitHubAsker } from "./github-asker.ts";
import { type GitHubClient, placeOf } from "./github-client.ts";
import { listedTwice } from "./listed-twice.ts";

const place = "GET /repos/{owner}/{repo}";
const nameOf = (one: { readonly name: string }) => one.name;

/** Branches, tags, pull requests, and permissions. */
export function readRepository(
  client: GitHubClient,
): Pick<Required<Forge>, "fetchAddress" | "refs" | "defaultBranch" | "pullRequests"> {
  return {
    fetchAddress: (slug) =>
      client.within(slug, async (as) => {
        const place = placeOf(slug);
        const one = await as.get(Repository, "GET /repos/{owner}/{repo}", place);
        const address = new URL(one.clone_url);
        if (one.private) {
          // The user name that GitHub requires with an app's token.
          address.username = "x-access-token";
          address.password = await as.readingToken(place.repo);
        }
        return address.href;
      }),

    refs: (slug) =>
      client.within(slug, async (as) => {
        const [branches, tags] = await Promise.all([
          listedTwice(() => as.list(Branch, `${place}/branches`, placeOf(slug)), nameOf),
          listedTwice(() => as.list(Tag, `${place}/tags`, placeOf(slug)), nameOf),
        ]);
        return [
          ...branches.map((one) => ({ ref: `refs/heads/${one.name}`, sha: one.commit.sha })),
          ...tags.map((one) => ({ ref: `refs/tags/${one.name}`, sha: one.commit.sha })),
        ];
      }),

    defaultBranch: (slug) =>
      client.within(slug, async (as) => {
        const { default_branch } = await as.get(
          Repository,
          "GET /repos/{owner}/{repo}",
          placeOf(slug),
        );
        return default_branch;
      }),

    pullRequests: pullRequests(client),
  };
}

function pullRequests(client: GitHubClient): ForgePullRequests {
  const standing: ForgePullRequests["standing"] = (slug, login) =>
    client.within(slug, async (as) => {
      const one = await orNothing(
        as.get(Collaborator, "GET /repos/{owner}/{repo}/collaborators/{username}/permission", {
          ...placeOf(slug),
          username: login,
        }),
      );
      if (one === undefined) return { permission: "none", accountId: undefined };
      return { permission: forgePermission(one), accountId: one.user?.id };
    });
  return {
    list: (slug, changedSince) =>
      client.within(slug, async (as) => {
        const route = "GET /repos/{owner}/{repo}/pulls";
        // Sorted by number, so that one opened meanwhile comes last.
        const parameters = { ...placeOf(slug), state: "open", sort: "created", direction: "asc" };
        const open = await listedTwice(
          () => as.list(Pull, route, parameters),
          (pull) => pull.number,
        );
        const isRecent = (pull: Pull) =>
          changedSince !== undefined && pull.updated_at >= changedSince;
        const closed =
          changedSince === undefined
            ? []
            : await as.list(
                Pull,
                route,
                { ...placeOf(slug), state: "closed", sort: "updated", direction: "desc" },
                { goesOn: (page) => page.every(isRecent) },
              );
        const bases = baseHeads(as, slug);
        // A pull request that was closed between the two lists is in both; the later data counts.
        const all = new Map([...open, ...closed.filter(isRecent)].map((one) => [one.number, one]));
        return Promise.all(
          [...all.values()].map(async (one) => pullRequest(one, await bases(one.base.ref))),
        );
      }),

    find: (slug, number) =>
      client.within(slug, async (as) => {
        const one = await orNothing(
          as.get(Pull, "GET /repos/{owner}/{repo}/pulls/{pull_number}", {
            ...placeOf(slug),
            pull_number: number,
          }),
        );
        return one && pullRequest(one, await baseHeads(as, slug)(one.base.ref));
      }),

    standing,
    permission: async (slug, login) => (await standing(slug, login)).permission,

    // GitHub ignores the case of logins; a bot's login ends in `[bot]`, which no principal's name has.
    accountOf: (login) => login.replace(/\[bot\]$/, "+bot").toLowerCase(),
  };
}

/** Returns the current heads of base branches, each requested once. A deleted one has no head. */
function baseHeads(as: GitHubAsker, slug: ForgeSlug): (branch: string) => Promise<string> {
  const known = new Map<string, Promise<string>>();
  return (branch) => {
    const reading =
      known.get(branch) ??
      orNothing(
        as.get(Reference, "GET /repos/{owner}/{repo}/git/ref/{+ref}", {
          ...placeOf(slug),
          ref: `heads/${branch.split("/").map(encodeURIComponent).join("/")}`,
        }),
      ).then((one) => one?.object.sha ?? "0".repeat(40));
    known.set(branch, reading);
    return reading;
  };
}

export async function orNothing<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (reason) {
    if (reason instanceof Fault && reason.code === "not_found") return undefined;
    throw reason;
  }
}
