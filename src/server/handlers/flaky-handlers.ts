import { placesOf } from "#access/places-of.ts";
import type { flakyEndpoints } from "#api/endpoints/flaky-endpoints.ts";
import type { FlakyEntry } from "#api/flaky.ts";
import { type FlakyJob, flakyJobs } from "#graphs/flaky-jobs.store.ts";
import { type FlakyAction, flakyActions } from "#invocations/pages/flaky-actions.store.ts";
import { wilsonInterval } from "#statistics/wilson-interval.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import type { HandlerServices } from "./handler-services.ts";

const dayMs = 24 * 60 * 60_000;
const mostEntries = 200;

export function flakyHandlers({
  clock,
}: Pick<HandlerServices, "clock">): HandlersFor<typeof flakyEndpoints> {
  return {
    async flaky({ query: { repository = null, days }, caller, reads }) {
      const since = new Date(clock.now().getTime() - days * dayMs);
      const wanted = { since, places: placesOf(caller, ["read"]), most: mostEntries };
      const [jobs, actions] = await Promise.all([
        flakyJobs(reads, { ...wanted, repository }),
        flakyActions(reads, { ...wanted, project: repository }),
      ]);
      const entries = [...jobs.map(entryOfJob), ...actions.map(entryOfAction)];
      return {
        since: since.toISOString(),
        // A job that failed once in two runs is less certainly flaky than one that failed 30 times in 100.
        entries: entries.toSorted((a, b) => b.low - a.low).slice(0, mostEntries),
      };
    },
  };
}

function entryOfJob({ examples, ...job }: FlakyJob): FlakyEntry {
  return {
    kind: "job",
    ...job,
    ...rateOf(job),
    examples: examples.map(({ at, graph, run, ...example }) => ({
      ...example,
      at: at.toISOString(),
      job: { graph, name: job.name, run },
    })),
  };
}

function entryOfAction({ project, examples, ...action }: FlakyAction): FlakyEntry {
  return {
    kind: "action",
    repository: project,
    ...action,
    ...rateOf(action),
    examples: examples.map(({ exitCode, ...example }) => ({
      ...example,
      at: example.at.toISOString(),
      message: exitCode === null ? null : `exit code ${exitCode}`,
      job: null,
      passedIn: null,
    })),
  };
}

function rateOf({ failures, runs }: { readonly failures: number; readonly runs: number }) {
  const { share, low, high } = wilsonInterval(failures, runs);
  return { rate: share, low, high };
}
