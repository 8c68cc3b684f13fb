import type { z } from "zod";
import { jobsDoneOnce } from "#access/audit.store.ts";
import { grantsOf } from "#access/grant.store.ts";
import { anyone, type Grant, type Principal } from "#access/principal.ts";
import { SubmitBenchmarkRequest } from "#api/benchmark-request.ts";
import { Retrigger } from "#api/rerun.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import type { FarmPort, GraphToMake } from "#forge/farm-port.ts";
import { forgePrincipalName } from "#forge/forge-principal.ts";
import { cancelGraph } from "#graphs/cancel-graph.ts";
import { GraphId } from "#graphs/graph-id.ts";
import { graphSummary } from "#graphs/graph-summary.store.ts";
import { nameRepository } from "#graphs/repository.store.ts";
import { retrigger } from "#graphs/reruns/retrigger.ts";
import { submitGraph } from "#graphs/submit-graph.ts";
import type { SourceService } from "#perf/requests/source-service.ts";
import { findSuite, type StoredSuite } from "#perf/suites.store.ts";
import { benchmarkRequestService } from "../benchmark-request-service.ts";
import type { Services } from "../services.ts";

/** The interface of the farm that forges use. `url` is the address under which people reach it. */
export function forgeFarmPort(services: Services, url: string): FarmPort {
  const { db, queue, sources } = services;
  const lab = benchmarkRequestService(services);
  return {
    url,
    nameRepository: (address) => db.transaction((tx) => nameRepository(tx, address)),

    async submitGraph(wanted, by) {
      const id = GraphId.parse(wanted.id);
      if ((await graphSummary(db, id)) !== undefined) return { isNew: false };
      await bring(services, wanted);
      const branch = /^refs\/heads\/(.+)$/.exec(wanted.ref)?.[1];
      const { isNew } = await submitGraph(
        services,
        {
          id,
          repository: wanted.url,
          rev: wanted.sha,
          ...(branch === undefined ? {} : { branch }),
          ...(wanted.named === undefined ? {} : { graph: wanted.named }),
        },
        await withReadableSources(db, by),
        {
          ref: wanted.ref,
          ...(wanted.outsiders === undefined ? {} : { outsiders: wanted.outsiders }),
        },
      );
      return { isNew };
    },

    graph: (id) => graphSummary(db, GraphId.parse(id)),
    async cancelGraph(id, by) {
      await cancelGraph(db, queue, by, GraphId.parse(id));
    },
    async retrigger(id, selection, by, once) {
      const graph = GraphId.parse(id);
      const done = await jobsDoneOnce(db, graph, once);
      if (done !== undefined) return { jobs: done };
      const asked = Retrigger.parse({ selection: selection || "state:failed" });
      const planned = await retrigger(services, graph, asked, by, once);
      if (planned === undefined) throw new Fault("not_found", `there is no graph ${id}`);
      return { jobs: planned.jobs.map(({ job }) => job) };
    },

    async requestBenchmark(wanted, by) {
      const asked = SubmitBenchmarkRequest.parse(wanted);
      const suite = await findSuite(db, asked.suite);
      const isFromGit = suite?.definition.artifacts.from === "git";
      if (suite === undefined || !isFromGit) return lab.submit(asked, by);
      if (asked.kind !== "try") await findOnLine(sources, suite, asked);
      // A commit exists as soon as it is pushed, so it does not have to be announced.
      return lab.submit({ ...asked, waitForArtifacts: false }, by);
    },
    async cancelBenchmark(id, by) {
      try {
        return (await lab.cancel(id, by)) !== undefined;
      } catch (reason) {
        // The request has already ended.
        if (!(reason instanceof Fault && reason.code === "failed_precondition")) throw reason;
        return false;
      }
    },
    grantsOf: (principal) => grantsOf(db, principal),
  };
}

/**
 * Makes the lab read a suite's branch and tags until it recognises the commit as one of them. Otherwise the lab would
 * permanently treat the commit as a try build.
 */
async function findOnLine(
  sources: SourceService,
  suite: StoredSuite,
  { artifact, kind }: z.output<typeof SubmitBenchmarkRequest>,
): Promise<void> {
  // The first read may join one that began before the commit was there.
  for (let look = 1; look <= 2; look++) {
    const found = await sources.look(suite);
    if (
      found.artifacts.some(
        ({ tag, commit, kind: as }) => as === kind && (tag === artifact || commit === artifact),
      )
    )
      return;
  }
  throw new Fault(
    "failed_precondition",
    `suite ${suite.name} takes ${artifact} for no ${kind}: it is not what its \`artifacts\` describe`,
  );
}

/**
 * Fetches a commit into the mirror with the repository's credential; afterwards its id alone finds it.
 *
 * Not every server serves a commit by its id. In that case the ref on which the commit was seen is fetched.
 */
async function bring({ mirrors }: Services, { address, ref, sha }: GraphToMake): Promise<void> {
  try {
    await mirrors.fetchCommit(address, sha);
  } catch (reason) {
    if (!(reason instanceof Fault && reason.code === "not_found")) throw reason;
    await mirrors.fetchCommit(address, ref);
    await mirrors.fetchCommit(address, sha);
  }
}

/**
 * Adds the repositories that sources of jobs may name: those to which the grants of `forge` and of `anyone` allow
 * submissions. Without them, a graph of a forge reads only its own repository.
 */
async function withReadableSources(db: Db, by: Principal): Promise<Principal> {
  const stored = [...(await grantsOf(db, forgePrincipalName)), ...(await grantsOf(db, anyone))];
  const readable = stored
    .filter(({ verb }) => verb === "submit" || verb === "*")
    .map(
      ({ repository }): Grant => ({
        verb: "submit",
        repository,
        branch: "*",
        priorityCap: 0,
        top: false,
      }),
    );
  return { ...by, grants: [...by.grants, ...readable] };
}
