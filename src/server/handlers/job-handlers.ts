import { placesOf } from "#access/places-of.ts";
import { mayDo } from "#access/require-grant.ts";
import type { jobEndpoints } from "#api/endpoints/job-endpoints.ts";
import { cancelAndConfirm } from "#graphs/cancel-and-confirm.ts";
import type { GraphId } from "#graphs/graph-id.ts";
import { jobSummary } from "#graphs/graph-page.store.ts";
import { jobDetail } from "#graphs/job-detail.store.ts";
import { reportRun } from "#graphs/outside/report-run.ts";
import { jobTrends } from "#graphs/times/job-trends.store.ts";
import { jobWaiting } from "#graphs/times/job-waiting.ts";
import { declaredOffers } from "#size-classes/declared-classes.ts";
import { eventStream } from "../http/event-stream.ts";
import { logAnswer } from "../http/log-answer.ts";
import { logEvents, mostLogBytesPerEvent } from "../http/log-events.ts";
import { logPositionOf } from "../http/log-position.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { jobPage } from "../job-page.ts";
import { LogPages } from "../logs/log-pages.ts";
import { manifestSchema } from "../manifest-schema.ts";
import { prepareRunLog, readRunLog } from "../run-log.ts";
import { runManifest } from "../run-manifest.ts";
import { found } from "./found.ts";
import { graphIdOf } from "./graph-of-call.ts";
import type { HandlerServices } from "./handler-services.ts";
import { outputAnswer } from "./output-answer.ts";
import { runOfCall } from "./run-of-call.ts";

type RunParams = Parameters<typeof runOfCall>[1];

export function jobHandlers(services: HandlerServices): HandlersFor<typeof jobEndpoints> {
  const { db, queue, blobsOf, clock, feeds } = services;
  const logPages = new LogPages();
  /** A run's log, and the name under which its index is kept. */
  const logOf = async (params: RunParams, batch: number | undefined) => {
    const { output, name } = await runOfCall(db, params, batch);
    // The farm may give a run another execution before it starts.
    const key = `${name} ${output.executionId ?? ""}`;
    return {
      key,
      read: (offset: number, most: number) => readRunLog(services, output, offset, most),
    };
  };
  const waitingOf = async (id: GraphId, job: string) =>
    jobWaiting(db, id, job, clock.now(), queue.times, await declaredOffers(db));
  const detailOf = async (id: GraphId, job: string) => {
    const detail = found(await jobDetail(db, id, job), jobIn(id, job));
    return { ...detail, waiting: (await waitingOf(id, job)) ?? null };
  };

  return {
    jobTrends: ({ query: { branch = null, ...query }, caller, reads }) =>
      reads.transaction((tx) =>
        jobTrends(tx, { ...query, branch, now: clock.now(), places: placesOf(caller, ["read"]) }),
      ),
    job: ({ params: { graph, job } }) => detailOf(graphIdOf({ graph }), job),
    async jobPage({ params: { graph, job }, caller }) {
      const detail = await detailOf(graphIdOf({ graph }), job);
      const [newest] = detail.runList;
      if (newest?.state === "finished" && mayDo(caller, "read-logs", detail.graph))
        // Not awaited, and a failure is left to the request of the log.
        runOfCall(db, { graph, job, run: newest.number })
          .then(({ output }) => prepareRunLog(services, output))
          .catch(() => {});
      return jobPage(services, detail, caller);
    },
    async jobWaiting({ params: { graph, job } }) {
      const id = graphIdOf({ graph });
      return { waiting: found(await waitingOf(id, job), jobIn(id, job)) };
    },
    async cancelJob({ params: { graph, job }, caller }) {
      const id = graphIdOf({ graph });
      found(await jobSummary(db, id, job), jobIn(id, job));
      const unconfirmed = await cancelAndConfirm(db, queue, caller, id, [job]);
      const summary = found(await jobSummary(db, id, job), jobIn(id, job));
      return { ...summary, unconfirmed: found(unconfirmed, `graph ${id}`) };
    },
    async reportRun({ params: { graph, job }, body, caller }) {
      const id = graphIdOf({ graph });
      return found(await reportRun({ db, blobsOf }, id, job, body, caller), jobIn(id, job));
    },
    async runLog({ params, query, context }) {
      const { offset } = logPositionOf(context);
      const { output } = await runOfCall(db, params, query.batch);
      const { limit } = query;
      return logAnswer(context, await readRunLog(services, output, offset, limit), limit);
    },
    async runLogIndex({ params, query }) {
      const { key, read } = await logOf(params, query.batch);
      return logPages.index(key, read);
    },
    async runLogSearch({ params, query, context }) {
      const { key, read } = await logOf(params, query.batch);
      return logPages.search(key, read, query, context.req.raw.signal);
    },
    async runLogEvents({ params, query, context }) {
      const from = logPositionOf(context);
      const { output } = await runOfCall(db, params, query.batch);
      const ticket = feeds.logs.ticket(output.executionId ?? "");
      // A run that has just started gets its execution now, and its result later.
      const read = async (offset: number) => {
        const run = await runOfCall(db, params, query.batch);
        return readRunLog(services, run.output, offset, mostLogBytesPerEvent);
      };
      return eventStream(context, ticket, logEvents(read, from));
    },
    async runOutput({ params, context }) {
      return outputAnswer(context, blobsOf, await runOfCall(db, params), params.path);
    },
    async runManifest({ params }) {
      const { graph, output, name } = await runOfCall(db, params);
      const detail = found(await jobDetail(db, graph, params.job), name);
      const run = found(
        detail.runList.find(({ number }) => number === params.run),
        name,
      );
      return runManifest(blobsOf, detail, run, output);
    },
    runManifestSchema: manifestSchema,
  };
}

function jobIn(id: GraphId, job: string): string {
  return `job "${job}" in graph ${id}`;
}
