import { Fault } from "#core/fault.ts";
import { cancelGraph } from "#graphs/cancel-graph.ts";
import { definitionsSchema } from "#graphs/definitions/definitions-schema.ts";
import { findGraphs } from "#graphs/find-graph.store.ts";
import { GraphId } from "#graphs/graph-id.ts";
import { graphChangesSince, jobSummary, wholeGraph } from "#graphs/graph-page.store.ts";
import { graphSummary, listGraphs, listRepositories } from "#graphs/graph-summary.store.ts";
import { jobDetail, runOutput } from "#graphs/job-detail.store.ts";
import { submitGraph } from "#graphs/submit-graph.ts";
import type { ChangeFeed } from "./change-feed.ts";
import type { Farm } from "./http/farm.ts";
import { workersForPage } from "./list-workers.ts";
import type { Rooms } from "./open-rooms.ts";
import { readRunLog } from "./run-log.ts";
import { readRunOutput } from "./run-output.ts";
import { version } from "./version.ts";

export interface Feeds {
  /** Topics are graphs' ids. */
  readonly graphs: ChangeFeed;
  /** Topics are executions' ids. */
  readonly logs: ChangeFeed;
  readonly executions: ChangeFeed;
}

/** What the HTTP API offers, made of the rooms. `url` is the farm's own address. */
export function bindFarm(rooms: Rooms, feeds: Feeds, url: string): Farm {
  const { db, queue, blobs, clock } = rooms;

  return {
    version,
    startedAt: clock.now(),
    database: rooms.databaseDescription,
    repositories: () => listRepositories(db),
    graphs: (repository, { limit, before }) =>
      listGraphs(db, {
        repository,
        limit,
        before: before === undefined ? undefined : graphIdFrom(before),
      }),

    async submitGraph(request) {
      const { graph, isNew } = await submitGraph(rooms, request);
      return { id: graph.id, url: `${url}/graphs/${graph.id}`, graph, isNew };
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

    async cancelGraph(id) {
      const graphId = graphIdFrom(id);
      await cancelGraph(db, queue, graphId);
      return graphSummary(db, graphId);
    },

    job: (id, name) => jobDetail(db, graphIdFrom(id), name),

    async cancelJob(id, name) {
      const graphId = graphIdFrom(id);
      if ((await jobSummary(db, graphId, name)) === undefined) return undefined;
      await cancelGraph(db, queue, graphId, [name]);
      return jobSummary(db, graphId, name);
    },

    async log({ graphId, job, number }, offset, most) {
      const run = await runOutput(db, graphIdFrom(graphId), job, number);
      return run === undefined ? undefined : readRunLog(rooms, run, offset, most);
    },

    async output({ graphId, job, number }, path) {
      const run = await runOutput(db, graphIdFrom(graphId), job, number);
      return run === undefined ? undefined : readRunOutput(blobs, run, path);
    },

    workers: () => workersForPage(db, clock.now(), queue.times.leaseMs),
    definitionsSchema,
    graphChanges: (topic) => feeds.graphs.ticket(topic),
    async logChanges({ graphId, job, number }) {
      const run = await runOutput(db, graphIdFrom(graphId), job, number);
      return feeds.logs.ticket(run?.executionId ?? "");
    },
    workerChanges: () => feeds.executions.ticket(""),
  };
}

function graphIdFrom(text: string): GraphId {
  const id = GraphId.safeParse(text);
  if (!id.success) throw new Fault("invalid_argument", `"${text}" is no graph's id`);
  return id.data;
}
