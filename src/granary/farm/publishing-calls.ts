import { toDigestMessage } from "#cas/digest-message.ts";
import { Fault } from "#core/fault.ts";
import type { GrpcChannel } from "#grpc/channel.ts";
import { Granaries, type PublishResultsResponse_End } from "#proto/grange/granary/v1/granary_pb.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import type { GranaryFarm } from "./granary-farm.ts";
import { toStoredResult } from "./stored-result.ts";

const timeoutMs = 60_000;
const mostResultsPerCall = 2_000;

const { method } = Granaries;

/** Calls that send data to the farm. No build waits for them, so a slow answer does not mean that the farm is away. */
export function publishingCalls(
  channel: () => GrpcChannel,
  circuit: Pick<CircuitBreaker, "failed" | "succeeded">,
): Pick<GranaryFarm, "publishResults" | "publishIndex" | "reportBuild" | "reportDivergence"> {
  async function noticed<T>(call: () => Promise<T>): Promise<T> {
    try {
      const answer = await call();
      circuit.succeeded();
      return answer;
    } catch (reason) {
      if (reason instanceof Fault && reason.code === "unavailable") circuit.failed(reason);
      throw reason;
    }
  }

  return {
    async publishResults(project, results) {
      const ends: PublishResultsResponse_End[] = [];
      for (let at = 0; at < results.length; at += mostResultsPerCall) {
        const some = results.slice(at, at + mostResultsPerCall);
        const request = { instanceName: project, results: some.map(toStoredResult) };
        const answer = await noticed(() =>
          channel().unary(method.publishResults, request, { timeoutMs }),
        );
        if (answer.ends.length !== some.length) {
          throw new Fault("internal", "the farm's answer is about other results than were sent");
        }
        ends.push(...answer.ends);
      }
      return ends;
    },

    async publishIndex(index, entries) {
      const request = {
        instanceName: index.project,
        repository: index.repository,
        commits: [...index.commits],
        tree: index.tree,
        branch: index.branch,
        environment: index.environment,
        complete: index.complete,
        targets: [...index.targets],
        entries: toDigestMessage(entries),
      };
      await noticed(() => channel().unary(method.publishIndex, request, { timeoutMs }));
    },

    async reportBuild(report) {
      const request = { instanceName: report.project, json: JSON.stringify(report) };
      await noticed(() => channel().unary(method.reportBuild, request, { timeoutMs }));
    },

    async reportDivergence(project, divergence) {
      const request = { instanceName: project, json: JSON.stringify(divergence) };
      await noticed(() => channel().unary(method.reportDivergence, request, { timeoutMs }));
    },
  };
}
