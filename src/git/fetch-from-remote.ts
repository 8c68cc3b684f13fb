import { CommitSha } from "#core/commit-sha.ts";
import { Fault } from "#core/fault.ts";
import { listRemoteRefs } from "./list-remote-refs.ts";
import type { Mirror } from "./mirror.ts";
import type { RemoteRefs } from "./remote-refs.ts";
import { withoutPassword } from "./repository-address.ts";
import {
  ambiguousRevision,
  branchOf,
  candidateRefs,
  emptyRepository,
  type FoundRevision,
  splitRevision,
  unknownRevision,
} from "./revision.ts";
import type { Git } from "./run-git.ts";

interface RemoteFetch {
  readonly url: string;
  readonly revision: string;
  readonly signal: AbortSignal | undefined;
}

/** Refs may move between listing and fetching; more often than this is not accidental. */
const attempts = 3;

/** Resolves a revision at a URL, and fetches it when the mirror does not have it. */
export async function fetchFromRemote(
  git: Git,
  mirror: Mirror,
  { url, revision, signal }: RemoteFetch,
): Promise<FoundRevision> {
  const shown = withoutPassword(url);
  const { name, steps } = splitRevision(revision);

  // A full id never changes its meaning: when it is in the mirror, nothing is fetched.
  const isFullId = CommitSha.safeParse(name).success;
  if (isFullId && ((await isHere(name)) || (await mirror.fetch(url, name, signal)))) {
    return { sha: await step(name) };
  }

  for (let attempt = 1; attempt <= attempts; attempt++) {
    const refs = await listRemoteRefs(git, url, signal);
    if (refs.byName.size === 0) throw emptyRepository(shown);
    const ref = candidateRefs(name).find((candidate) => refs.byName.has(candidate));
    const id = ref && refs.byName.get(ref);
    if (ref === undefined || id === undefined) {
      if (!/^[0-9a-f]{4,40}$/.test(name)) throw unknown(refs);
      await mirror.fetchAll(url, signal);
      if (!(await isHere(name))) throw unknown(refs);
      return { sha: await step(name) };
    }
    if ((await isHere(id)) || ((await mirror.fetch(url, ref, signal)) && (await isHere(id)))) {
      const sha = await step(id);
      const branch = steps === "" ? branchOf(ref === "HEAD" ? refs.head : ref) : undefined;
      const full = ref === "HEAD" ? refs.head : ref;
      return {
        sha,
        ...(branch === undefined ? {} : { branch }),
        ...(full === undefined ? {} : { ref: full }),
      };
    }
  }
  throw new Fault(
    "aborted",
    `${revision} of ${shown} changed again and again while it was fetched; try again`,
  );

  async function isHere(id: string): Promise<boolean> {
    const resolved = await mirror.resolve(id);
    if (resolved === "ambiguous") throw ambiguousRevision(shown, name);
    return resolved !== undefined;
  }

  async function step(id: string): Promise<CommitSha> {
    const sha = await mirror.resolve(id + steps);
    if (sha !== undefined && sha !== "ambiguous") return sha;
    throw new Fault("not_found", `${shown} has ${name}, but its history has no ${revision}`);
  }

  function unknown(refs: RemoteRefs): Fault {
    return unknownRevision(shown, revision, [...refs.byName.keys()]);
  }
}
