import type { benchmarkRequestEndpoints } from "#api/endpoints/benchmark-request-endpoints.ts";
import { digestKey, parseDigestKey } from "#core/digest.ts";
import { collectorViews } from "#perf/collectors/collector-views.ts";
import { readReport } from "#perf/reports/read-report.ts";
import { BenchmarkRequestId } from "#perf/requests/request.store.ts";
import { requestsPage } from "#perf/requests/request-page.store.ts";
import { readStatus } from "#perf/requests/status.ts";
import { benchmarkRequestService } from "../benchmark-request-service.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { found } from "./found.ts";
import type { HandlerServices } from "./handler-services.ts";

export function benchmarkRequestHandlers(
  services: HandlerServices,
): HandlersFor<typeof benchmarkRequestEndpoints> {
  const { db, clock, blobs, labTimes } = services;
  const requests = benchmarkRequestService(services);

  return {
    benchmarkStatus: () =>
      db.transaction(async (tx) => {
        const now = clock.now();
        return readStatus(tx, await collectorViews(tx, now, labTimes), now);
      }),

    async benchmarkRequests({ query: { suite, state, before, limit } }) {
      const page = await requestsPage(db, {
        suite,
        state,
        limit,
        before: before === undefined ? undefined : BenchmarkRequestId.parse(before),
      });
      return {
        requests: page,
        next: page.length < limit ? null : (page.at(-1)?.id ?? null),
      };
    },

    async submitBenchmarkRequest({ body, caller }) {
      const answer = await requests.submit(body, caller);
      return { isNew: answer.outcome === "created", answer };
    },

    async benchmarkRequest({ params: { request } }) {
      return found(await requests.read(request), `benchmark request ${request}`);
    },

    async cancelBenchmarkRequest({ params: { request }, caller }) {
      return found(await requests.cancel(request, caller), `benchmark request ${request}`);
    },

    async retryBenchmarkRequest({ params: { request }, caller }) {
      const answer = found(await requests.retry(request, caller), `benchmark request ${request}`);
      return { isNew: answer.outcome === "created", answer };
    },

    async benchmarkArtifactsReady({ params: { request }, body: { tarballs = {} }, caller }) {
      const now = await requests.artifactsReady(request, tarballs, caller);
      return found(now, `benchmark request ${request}`);
    },

    async keepBenchmarkTarball({ params: { hash, size }, context }) {
      const digest = parseDigestKey(`${hash}/${size}`);
      await blobs.write(digest, context.req.raw.body ?? new Blob([]).stream());
      return { digest: digestKey(digest) };
    },

    benchmarkReport: ({ params, query }) => readReport(db, params.request, query.suite),
  };
}
