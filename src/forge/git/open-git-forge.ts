import { CommitSha } from "#core/commit-sha.ts";
import { Fault } from "#core/fault.ts";
import { repositoryAt } from "#git/fetch-from-local.ts";
import { listRemoteRefs } from "#git/list-remote-refs.ts";
import type { RemoteRefs } from "#git/remote-refs.ts";
import { parseRepositoryAddress, withoutPassword } from "#git/repository-address.ts";
import type { Forge, ForgeFinding, ForgeRef } from "../forge.ts";
import type { ForgeParts } from "../forge-kind.ts";

/** Longer than any loose ref on a file system; longer names from a hostile remote are left out. */
const mostNameLength = 250;

/** Opens a plain Git remote as a forge: branches and tags, without optional capabilities. */
export function openGitForge({
  git,
  workingDirectory,
  withCredentials,
}: Pick<ForgeParts, "git" | "workingDirectory" | "withCredentials">): Forge {
  const list = async (slug: string): Promise<RemoteRefs> => {
    const address = parseRepositoryAddress(await withCredentials(slug), workingDirectory);
    const place = address.kind === "local" ? await repositoryAt(git, address.path) : address.url;
    return listRemoteRefs(git, place);
  };
  return {
    kind: "git",
    storedSlug: (written) => written,
    fetchAddress: withCredentials,

    async refs(slug) {
      const { byName } = await list(slug);
      return [...byName].flatMap(([ref, sha]): ForgeRef[] => {
        if (!/^refs\/(heads|tags)\//.test(ref) || ref.length > mostNameLength) return [];
        return CommitSha.safeParse(sha).success ? [{ ref, sha }] : [];
      });
    },

    async defaultBranch(slug) {
      const { head, byName } = await list(slug);
      const branch = head === undefined ? undefined : /^refs\/heads\/(.+)$/.exec(head)?.[1];
      if (branch !== undefined) return branch;
      throw new Fault(
        "failed_precondition",
        byName.size === 0
          ? `${withoutPassword(slug)} is empty: push a first commit`
          : `the HEAD of ${withoutPassword(slug)} is not a branch; set it to one (git symbolic-ref HEAD refs/heads/main)`,
      );
    },

    async examine(slug) {
      if (slug === undefined) return [];
      return [await examineRefs(slug, list)];
    },
  };
}

async function examineRefs(
  slug: string,
  list: (slug: string) => Promise<RemoteRefs>,
): Promise<ForgeFinding> {
  const what = "the repository can be read";
  try {
    const { byName, head } = await list(slug);
    const heads = [...byName.keys()].filter((name) => name.startsWith("refs/heads/")).length;
    if (heads === 0) return { what, state: "wrong", detail: "it has no branch yet: push one" };
    if (head === undefined) {
      return {
        what,
        state: "wrong",
        detail: "its HEAD is not a branch, so there is no default branch",
      };
    }
    return { what, state: "ok", detail: `${heads} branches; the default one is ${head.slice(11)}` };
  } catch (reason) {
    const detail = reason instanceof Fault ? reason.message : "it did not respond";
    return { what, state: "wrong", detail };
  }
}
