import { recordAudit } from "#access/audit.store.ts";
import { type Principal, wholeFarm } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import type {
  RequestDetail,
  RequestSummary,
  SubmitBenchmarkRequest,
  SubmittedRequest,
} from "#api/benchmark-request.ts";
import { digestKey, parseDigestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { collectorViews } from "#perf/collectors/collector-views.ts";
import { artifactsReady, cancelRequest, retryRequest } from "#perf/requests/change-request.ts";
import type { Answered } from "#perf/requests/create-or-extend-request.ts";
import { type BenchmarkRequestId, requestsNamed } from "#perf/requests/request.store.ts";
import { requestSummaries } from "#perf/requests/request-page.store.ts";
import { readRequest } from "#perf/requests/status.ts";
import { type SubmitServices, submitRequest } from "#perf/requests/submit-request.ts";
import type { Services } from "./services.ts";

/**
 * Requests to measure artifacts, for the HTTP API and for forges. Each change leaves an entry in the audit.
 *
 * A request is named by its id, by a unique prefix of the id, or by `latest`; undefined when there is none.
 */
interface BenchmarkRequestService {
  /** Throws `permission_denied` without `benchmark` on the farm. */
  submit(
    request: ReturnType<typeof SubmitBenchmarkRequest.parse>,
    by: Principal,
  ): Promise<SubmittedRequest>;
  read(written: string): Promise<RequestDetail | undefined>;
  /** Throws `permission_denied` without `benchmark` on the farm. */
  cancel(written: string, by: Principal): Promise<RequestDetail | undefined>;
  retry(written: string, by: Principal): Promise<SubmittedRequest | undefined>;
  artifactsReady(
    written: string,
    tarballs: Readonly<Record<string, string>>,
    by: Principal,
  ): Promise<RequestDetail | undefined>;
}

export function benchmarkRequestService({
  db,
  clock,
  blobs,
  sources,
  labTimes,
}: Pick<Services, "db" | "clock" | "blobs" | "sources" | "labTimes">): BenchmarkRequestService {
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
      `"${written}" is the start of several requests' ids; write more characters`,
    );
  };
  const detail = async (id: BenchmarkRequestId) =>
    db.transaction(async (tx) => {
      const now = clock.now();
      return readRequest(tx, id, await collectorViews(tx, now, labTimes), now);
    });
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
    async submit(request, by) {
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

    async read(written) {
      const id = await named(written);
      return id === undefined ? undefined : detail(id);
    },

    async cancel(written, by) {
      requireGrant(by, "benchmark", wholeFarm);
      const id = await named(written);
      if (id === undefined) return undefined;
      await cancelRequest({ db, clock }, id, by.name, audit(by, "cancel a request", { id }));
      return detail(id);
    },

    async retry(written, by) {
      const id = await named(written);
      if (id === undefined) return undefined;
      const answered = await retryRequest({ db, clock }, id, by.name, (tx, { id: again }) =>
        audit(by, "ask again for what a request did not get", { id, again })(tx),
      );
      return submitted(answered);
    },

    async artifactsReady(written, tarballs, by) {
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
  };
}
