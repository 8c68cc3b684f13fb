import { z } from "zod";
import { recordAudit } from "#access/audit.store.ts";
import type { granaryEndpoints } from "#api/endpoints/granary-endpoints.ts";
import type { CommitIndexSummary } from "#api/granary.ts";
import { byFirstUse } from "#commit-index/merge-indexes.ts";
import { resolveChain } from "#commit-index/resolve-chain.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import {
  indexOfCommit,
  newestIndexes,
  newestIndexOfCommit,
  type StoredIndex,
} from "#granaries/commit-index.store.ts";
import { buildWithId, listBuilds, savingsSince } from "#granaries/granary-build.store.ts";
import { resultsOnPage } from "#granaries/index-page.ts";
import { projectResults } from "#granaries/project-results.ts";
import { release } from "#granaries/quarantine.ts";
import { quarantineMadeFrom } from "#granaries/quarantine-made-from.ts";
import { quarantinePage } from "#granaries/quarantine-page.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { found } from "./found.ts";
import type { HandlerServices } from "./handler-services.ts";

const dayMs = 24 * 60 * 60_000;
const resultsOfPage = 200;

export function granaryHandlers(
  services: Pick<HandlerServices, "db" | "blobsOf" | "treesOf" | "clock">,
): HandlersFor<typeof granaryEndpoints> {
  const { db, blobsOf, clock } = services;
  // Pages show only data that everybody may read.
  const domain = protectedDomain;
  const results = projectResults({ ...services, domain });

  return {
    async granaryBuilds({ query: { project, repository, commit, after, limit }, reads }) {
      const listing = { project, repository, commit, after, limit: limit + 1 };
      const listed = await listBuilds(reads, listing);
      const builds = listed.slice(0, limit);
      return { builds, next: listed.length > limit ? (builds.at(-1)?.id ?? null) : null };
    },

    async granaryBuild({ params, reads }) {
      const id = z.uuid().safeParse(params.build);
      const build = id.success ? await buildWithId(reads, id.data) : undefined;
      return found(build, "build of a granary with that id");
    },

    async granarySavings({ query: { project, days }, reads }) {
      const now = clock.now().getTime();
      // Whole days: today and those before it.
      const since = new Date(now - (now % dayMs) - (days - 1) * dayMs);
      return { days: await savingsSince(reads, project, since) };
    },

    async commitIndexes({ query: { project, limit }, reads }) {
      return { indexes: (await newestIndexes(reads, { project, domain }, limit)).map(summaryOf) };
    },

    async commitIndex({ query: { project, repository, commit, environment, from } }) {
      const which = { project, repository, commit, domain };
      const stored = await (environment === undefined
        ? newestIndexOfCommit(db, which)
        : indexOfCommit(db, { ...which, environment }));
      const index = found(stored, `index of commit ${commit} in that environment`);
      const blobs = blobsOf(project);
      const { entries } = await resolveChain(index.digest, (blob) => blobs.get(blob));
      const inOrder = entries.toSorted(byFirstUse);
      const some = inOrder.slice(from, from + resultsOfPage);
      const next = from + some.length;
      return {
        index: summaryOf(index),
        results: resultsOnPage(some, await results.whole(project, some)),
        next: next < inOrder.length ? next : null,
      };
    },

    granaryQuarantine: ({ query }) => quarantinePage(db, query.project),

    async quarantineMadeFrom({ body: { project, namespace, key }, caller: by }) {
      await db.transaction(async (tx) => {
        const which = { namespace, key };
        const results = await quarantineMadeFrom(tx, project, which, {
          name: by.name,
          now: clock.now(),
        });
        const what = "put what was made from a result into quarantine";
        const detail = { what, project, namespace, key, results };
        await recordAudit(tx, { actor: by.name, verb: "administer", detail });
      });
      return quarantinePage(db, project);
    },

    async releaseGranaryResult({ body: { project, namespace, key }, caller: by }) {
      await db.transaction(async (tx) => {
        await release(tx, project, { namespace, key }, by.name);
        const detail = { what: "release a result from quarantine", project, namespace, key };
        await recordAudit(tx, { actor: by.name, verb: "administer", detail });
      });
      return quarantinePage(db, project);
    },
  };
}

function summaryOf(index: StoredIndex): CommitIndexSummary {
  const { project, repository, commit, environment, tree, branch, targets } = index;
  const { entries, bytes, builds, chain, isComplete, updatedAt, lastUsedAt } = index;
  return {
    project,
    repository,
    commit,
    environment,
    tree,
    branch,
    complete: isComplete,
    targets,
    entries,
    bytes,
    builds,
    chain,
    updatedAt: updatedAt.toISOString(),
    lastUsedAt: lastUsedAt.toISOString(),
  };
}
