import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { cancelAndConfirm } from "#graphs/cancel-and-confirm.ts";
import { batchOutput } from "#graphs/chunks/batch-output.store.ts";
import { findGraphs } from "#graphs/find-graph.store.ts";
import { GraphId } from "#graphs/graph-id.ts";
import { graphChangesSince, jobSummary, wholeGraph } from "#graphs/graph-page.store.ts";
import { graphSummary, listGraphs, listRepositories } from "#graphs/graph-summary.store.ts";
import { jobDetail, runOutput } from "#graphs/job-detail.store.ts";
import { submitGraph } from "#graphs/submit-graph.ts";
import { bindCatalogs } from "./bind-catalogs.ts";
import { bindForge } from "./bind-forge.ts";
import { bindManifests } from "./bind-manifests.ts";
import { bindSearches } from "./bind-searches.ts";
import { bindTimes } from "./bind-times.ts";
import { bindWaiting } from "./bind-waiting.ts";
import type { Feeds } from "./handlers/handler-services.ts";
import type { Farm, RunName } from "./http/farm.ts";
import { readRunLog } from "./run-log.ts";
import { readRunOutput } from "./run-output.ts";
import type { Services } from "./services.ts";
import { bindSignIn } from "./sign-in/bind-sign-in.ts";

/** Binds what the HTTP API offers to the services of the server. `url` is the farm's own address. */
export function bindFarm(services: Services, feeds: Feeds, url: string): Farm {
  const { db, queue, blobs } = services;
  const waiting = bindWaiting(services);
  return {
    identify: (authorization, certificateOf) =>
      services.callers.identify(authorization, certificateOf),
    ...waiting,
    ...bindCatalogs(services),
    ...bindManifests(services),
    ...bindSearches(services),
    ...bindTimes(services, services.desiredWorkers),
    ...bindForge(services, services.forges),
    ...bindSignIn(services, url),
    repositories: () => listRepositories(db),
    graphs: (repository, { limit, before }, commit) =>
      listGraphs(db, {
        repository,
        commit,
        limit,
        before: before === undefined ? undefined : graphIdFrom(before),
      }),

    async submitGraph(request, by) {
      const submitted = await submitGraph(services, request, by);
      const { id } = submitted.graph;
      return { id, url: `${url}/graphs/${id}`, ...submitted };
    },

    async findGraph(prefix) {
      const found = await findGraphs(db, prefix);
      if (found.length > 1) {
        throw new Fault(
          "invalid_argument",
          `"${prefix}" begins several graphs' ids; write more of it`,
        );
      }
      return found[0];
    },

    graph: (id) => db.transaction((tx) => wholeGraph(tx, graphIdFrom(id))),
    graphSummary: (id) => graphSummary(db, graphIdFrom(id)),
    graphDelta: (id, since) => graphChangesSince(db, graphIdFrom(id), since),

    async cancelGraph(id, by) {
      const graphId = graphIdFrom(id);
      const unconfirmed = await cancelAndConfirm(db, queue, by, graphId);
      const summary = await graphSummary(db, graphId);
      return summary && unconfirmed && { ...summary, unconfirmed };
    },

    async job(id, name) {
      const detail = await jobDetail(db, graphIdFrom(id), name);
      if (detail === undefined) return undefined;
      return { ...detail, waiting: (await waiting.jobWaiting(id, name)) ?? null };
    },

    async cancelJob(id, name, by) {
      const graphId = graphIdFrom(id);
      if ((await jobSummary(db, graphId, name)) === undefined) return undefined;
      const unconfirmed = await cancelAndConfirm(db, queue, by, graphId, [name]);
      const summary = await jobSummary(db, graphId, name);
      return summary && unconfirmed && { ...summary, unconfirmed };
    },

    async log(name, offset, most) {
      const run = await loggedRun(db, name);
      return run === undefined ? undefined : readRunLog(services, run, offset, most);
    },

    async output({ graphId, job, number }, path) {
      const run = await runOutput(db, graphIdFrom(graphId), job, number);
      return run === undefined ? undefined : readRunOutput(blobs, run, path);
    },

    graphChanges: (topic) => feeds.graphs.ticket(topic),
    async logChanges(name) {
      const run = await loggedRun(db, name);
      return feeds.logs.ticket(run?.executionId ?? "");
    },
  };
}

function loggedRun(db: Db, { graphId, job, number, batch }: RunName) {
  const id = graphIdFrom(graphId);
  return batch === undefined
    ? runOutput(db, id, job, number)
    : batchOutput(db, id, job, number, batch);
}

function graphIdFrom(text: string): GraphId {
  const id = GraphId.safeParse(text);
  if (!id.success) throw new Fault("invalid_argument", `"${text}" is no graph's id`);
  return id.data;
}
