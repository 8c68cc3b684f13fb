import { wholeFarm } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
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
import { recordAudit } from "#graphs/audit.store.ts";
import type { GranaryFarm } from "./http/granary-farm.ts";
import type { Services } from "./services.ts";

const dayMs = 24 * 60 * 60_000;
const resultsOfPage = 200;

/** What granaries told, and what the farm knows for them, for the HTTP API. */
export function bindGranaries(
  services: Pick<Services, "db" | "blobsOf" | "treesOf" | "clock">,
): GranaryFarm {
  const { db, blobsOf, clock } = services;
  // Pages show what everybody reads.
  const domain = protectedDomain;
  const results = projectResults({ ...services, domain });

  return {
    async granaryBuilds(listing) {
      const { limit } = listing;
      const found = await listBuilds(db, { ...listing, limit: limit + 1 });
      const builds = found.slice(0, limit);
      return { builds, next: found.length > limit ? (builds.at(-1)?.id ?? null) : null };
    },

    granaryBuild: (id) => buildWithId(db, id),

    async granarySavings(project, days) {
      const now = clock.now().getTime();
      // Whole days: today and those before it.
      const since = new Date(now - (now % dayMs) - (days - 1) * dayMs);
      return { days: await savingsSince(db, project, since) };
    },

    async commitIndexes(project, limit) {
      return { indexes: (await newestIndexes(db, { project, domain }, limit)).map(summaryOf) };
    },

    async commitIndex({ environment, ...commit }, from) {
      const which = { ...commit, domain };
      const index = await (environment === undefined
        ? newestIndexOfCommit(db, which)
        : indexOfCommit(db, { ...which, environment }));
      if (index === undefined) return undefined;
      const blobs = blobsOf(which.project);
      const { entries } = await resolveChain(index.digest, (blob) => blobs.get(blob));
      const inOrder = entries.toSorted(byFirstUse);
      const some = inOrder.slice(from, from + resultsOfPage);
      const next = from + some.length;
      return {
        index: summaryOf(index),
        results: resultsOnPage(some, await results.whole(which.project, some)),
        next: next < inOrder.length ? next : null,
      };
    },

    quarantine: (project) => quarantinePage(db, project),

    async quarantineMadeFrom({ project, namespace, key }, by) {
      requireGrant(by, "administer", wholeFarm);
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

    async releaseResult({ project, namespace, key }, by) {
      requireGrant(by, "administer", wholeFarm);
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
