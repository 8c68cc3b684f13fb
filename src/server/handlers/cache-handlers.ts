import { placesOf } from "#access/places-of.ts";
import { wholeFarm } from "#access/principal.ts";
import { mayDo } from "#access/require-grant.ts";
import type { cacheEndpoints } from "#api/endpoints/cache-endpoints.ts";
import { cacheUseSince } from "#caches/cache-use.store.ts";
import { projectOf } from "#caches/rev2/project-of.ts";
import { type Digest, digestKey, parseDigestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { granaryUseSince } from "#granaries/granary-build.store.ts";
import { jobCacheUse } from "#graphs/job-cache-use.store.ts";
import { compareActions } from "#invocations/compare/compare-actions.ts";
import { cacheUseSeries } from "../cache-use-series.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { storeContents } from "../store-contents.ts";
import type { HandlerServices } from "./handler-services.ts";

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;
const mostSeries = 200;

export function cacheHandlers(services: HandlerServices): HandlersFor<typeof cacheEndpoints> {
  const { clock, blobsOf } = services;
  return {
    async cacheUse({ query: { days }, caller, reads }) {
      const until = clock.now();
      const periodMs = days === 1 ? hourMs : dayMs;
      // Whole periods: the first one would otherwise look like one with few requests.
      const since = new Date(Math.ceil((until.getTime() - days * dayMs) / periodMs) * periodMs);
      const wanted = { since, periodSeconds: periodMs / 1_000, places: placesOf(caller, ["read"]) };
      const [counted, jobs, granaries] = await Promise.all([
        cacheUseSince(reads, wanted),
        jobCacheUse(reads, wanted),
        granaryUseSince(reads, wanted),
      ]);
      const uses = [
        ...counted.map(({ project, ...use }) => ({ ...use, name: project })),
        ...jobs.map(({ repository, ...use }) => ({
          ...use,
          kind: "jobs" as const,
          name: repository,
        })),
        ...granaries.map(({ project, ...use }) => ({
          ...use,
          kind: "granaries" as const,
          name: project,
        })),
      ];
      return {
        since: since.toISOString(),
        until: until.toISOString(),
        periodMs,
        series: cacheUseSeries(uses, mostSeries),
      };
    },

    storeContents: ({ caller }) =>
      storeContents(services, {
        mayReadProject: (project) => mayDo(caller, "read", { repository: project, branch: "" }),
        mayReadFarm: mayDo(caller, "read", wholeFarm),
      }),

    async actionComparison({ query }) {
      const project = projectOf(query.project);
      const before = actionFrom(query.before);
      const after = actionFrom(query.after);
      const blobs = blobsOf(project);
      const [missing] = await blobs.findMissing([before, after]);
      if (missing !== undefined) {
        throw new Fault(
          "not_found",
          `action ${digestKey(missing)} is not in project "${project}"; results that were not used for a long time are removed`,
        );
      }
      return compareActions(blobs, before, after);
    },
  };
}

function actionFrom(written: string): Digest {
  try {
    return parseDigestKey(written);
  } catch {
    throw new Fault(
      "invalid_argument",
      `"${written}" is not the digest of an action; write HASH/SIZE, as the page of an execution shows it`,
    );
  }
}
