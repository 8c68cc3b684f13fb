import { type Principal, wholeFarm } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import type { RequestSummary } from "#api/benchmark-request.ts";
import { digestKey, parseDigestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { showableDefinition } from "#core/hide-secrets.ts";
import type { Tx } from "#db/db.ts";
import { recordAudit } from "#graphs/audit.store.ts";
import { collectorViews } from "#perf/collectors/collector-views.ts";
import { pushSuite } from "#perf/push-suite.ts";
import { artifactsPage } from "#perf/requests/artifact.store.ts";
import type { Answered } from "#perf/requests/ask-for.ts";
import { artifactsReady, cancelRequest, retryRequest } from "#perf/requests/change-request.ts";
import { BenchmarkRequestId, requestsNamed } from "#perf/requests/request.store.ts";
import { requestSummaries, requestsPage } from "#perf/requests/request-page.store.ts";
import { readRequest, readStatus } from "#perf/requests/status.ts";
import { type SubmitServices, submitRequest } from "#perf/requests/submit-request.ts";
import { suiteView } from "#perf/suite-view.ts";
import { allSuites, countArtifacts, findSuite } from "#perf/suites.store.ts";
import type { BenchmarkRequestFarm } from "./http/benchmark-request-farm.ts";
import type { Services } from "./services.ts";

/** Requests to measure artifacts, for the HTTP API. */
export function bindBenchmarkRequests({
  db,
  clock,
  blobs,
  sources,
  labTimes,
}: Pick<Services, "db" | "clock" | "blobs" | "sources" | "labTimes">): BenchmarkRequestFarm {
  const collectors = (tx: Tx) => collectorViews(tx, clock.now(), labTimes);
  const submitServices: SubmitServices = {
    db,
    clock,
    sources,
    async missingBlobs(keys) {
      const digests = keys.map((key) => parseDigestKey(key));
      return (await blobs.findMissing(digests)).map((digest) => digestKey(digest));
    },
  };

  const named = async (written: string): Promise<BenchmarkRequestId | undefined> => {
    const [id, another] = await requestsNamed(db, written.toLowerCase());
    if (another === undefined) return id;
    throw new Fault(
      "invalid_argument",
      `"${written}" begins several requests' ids; write more of it`,
    );
  };
  const detail = async (id: BenchmarkRequestId) =>
    db.transaction(async (tx) => readRequest(tx, id, await collectors(tx), clock.now()));
  const summary = async (id: BenchmarkRequestId): Promise<RequestSummary> => {
    const [found] = await requestSummaries(db, [id]);
    if (found !== undefined) return found;
    throw new Fault("internal", `benchmark request ${id} is gone`);
  };
  const submitted = async ({ id, outcome, sentence, parents }: Answered) => ({
    request: await summary(id),
    outcome,
    sentence,
    parents: [...parents],
  });
  const audit =
    (by: Principal, what: string, more: Readonly<Record<string, unknown>>) => (tx: Tx) =>
      recordAudit(tx, { actor: by.name, verb: "benchmark", detail: { what, ...more } });

  return {
    async benchmarkSuites() {
      const counts = new Map((await countArtifacts(db)).map((row) => [row.suite, row]));
      const suites = await allSuites(db);
      return { suites: suites.map((suite) => suiteView(suite, counts.get(suite.name))) };
    },

    async benchmarkSuite(name) {
      const suite = await findSuite(db, name);
      if (suite === undefined) return undefined;
      const counts = (await countArtifacts(db)).find((row) => row.suite === name);
      return { ...suiteView(suite, counts), definition: showableDefinition(suite.definition) };
    },

    async pushBenchmarkSuite(name, definition, by) {
      requireGrant(by, "benchmark", wholeFarm);
      return pushSuite({ db, clock }, name, definition, by.name, (tx, { digest }) =>
        audit(by, "push a suite", { suite: name, digest })(tx),
      );
    },

    async benchmarkArtifacts(query) {
      if ((await findSuite(db, query.suite)) === undefined) {
        throw new Fault("not_found", `there is no suite "${query.suite}"`);
      }
      const page = await artifactsPage(db, query);
      return {
        artifacts: page.map(({ tag, kind, datedAt, parent, commit, components, state }) => ({
          tag,
          kind,
          datedAt: datedAt.toISOString(),
          parent,
          commit,
          backends: Object.keys(components).toSorted(),
          state,
        })),
        next: page.length < query.limit ? null : (page.at(-1)?.tag ?? null),
      };
    },

    async benchmarkRequests({ before, ...query }) {
      const requests = await requestsPage(db, {
        ...query,
        before: before === undefined ? undefined : BenchmarkRequestId.parse(before),
      });
      return {
        requests,
        next: requests.length < query.limit ? null : (requests.at(-1)?.id ?? null),
      };
    },

    async submitBenchmarkRequest(request, by) {
      requireGrant(by, "benchmark", wholeFarm);
      const answered = await submitRequest(
        submitServices,
        request,
        by.name,
        (tx, { id, outcome }) =>
          audit(by, "ask for an artifact to be measured", { ...request, request: id, outcome })(tx),
      );
      return submitted(answered);
    },

    async benchmarkRequest(written) {
      const id = await named(written);
      return id === undefined ? undefined : detail(id);
    },

    async cancelBenchmarkRequest(written, by) {
      requireGrant(by, "benchmark", wholeFarm);
      const id = await named(written);
      if (id === undefined) return undefined;
      await cancelRequest({ db, clock }, id, by.name, audit(by, "cancel a request", { id }));
      return detail(id);
    },

    async retryBenchmarkRequest(written, by) {
      requireGrant(by, "benchmark", wholeFarm);
      const id = await named(written);
      if (id === undefined)
        throw new Fault("not_found", `there is no benchmark request ${written}`);
      const answered = await retryRequest({ db, clock }, id, by.name, (tx, { id: again }) =>
        audit(by, "ask again for what a request did not get", { id, again })(tx),
      );
      return submitted(answered);
    },

    async benchmarkArtifactsReady(written, tarballs, by) {
      requireGrant(by, "benchmark", wholeFarm);
      const id = await named(written);
      if (id === undefined) return undefined;
      await artifactsReady(
        submitServices,
        id,
        tarballs,
        audit(by, "say that artifacts are there", { id, tarballs }),
      );
      return detail(id);
    },

    benchmarkStatus: () =>
      db.transaction(async (tx) => readStatus(tx, await collectors(tx), clock.now())),

    async keepBenchmarkTarball(digest, bytes, by) {
      requireGrant(by, "benchmark", wholeFarm);
      await blobs.write(digest, bytes);
    },
  };
}
