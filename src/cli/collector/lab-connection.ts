import { benchmarkCollectorEndpoints } from "#api/endpoints/benchmark-collector-endpoints.ts";
import type { LabConnection } from "#collector/lab-connection.ts";
import { Fault } from "#core/fault.ts";
import type { ApiClient } from "../api/api-client.ts";

/** A connection that breaks without a message is dropped after this time. */
const answerMs = 15_000;

/** A test's report may be large, and a busy server slow: a repetition would be as large. */
const reportMs = 60_000;

/** The calls of a collector of this name. */
export function labConnection(
  { call, bytes }: Pick<ApiClient, "call" | "bytes">,
  name: string,
): LabConnection {
  const {
    benchmarkCollectorHello,
    claimBenchmarkJob,
    benchmarkJobHeartbeat,
    reportBenchmarkTest,
    endBenchmarkJob,
    reportBenchmarkSelfTest,
  } = benchmarkCollectorEndpoints;
  const collector = { name };
  return {
    hello: (body, signal) =>
      within(answerMs, signal, (both) =>
        call(benchmarkCollectorHello, { params: collector, body }, both),
      ),
    claim: (body, signal) =>
      within(body.waitMs + answerMs, signal, (both) =>
        call(claimBenchmarkJob, { params: collector, body }, both),
      ),
    heartbeat: (job, body, signal) =>
      within(answerMs, signal, (both) =>
        call(benchmarkJobHeartbeat, { params: { job }, body }, both),
      ),
    report: async (job, body, signal) => {
      await within(reportMs, signal, (both) =>
        call(reportBenchmarkTest, { params: { job }, body }, both),
      );
    },
    end: (job, body, signal) =>
      within(answerMs, signal, (both) => call(endBenchmarkJob, { params: { job }, body }, both)),
    selfTest: (body, signal) =>
      within(reportMs, signal, (both) =>
        call(reportBenchmarkSelfTest, { params: collector, body }, both),
      ),
    fetchBlob: (digest, signal) => bytes(`/blobs/${digest}`, signal),
  };
}

/** Not `AbortSignal.any`: for a signal that lives for months, it would keep some memory for each call. */
async function within<Result>(
  ms: number,
  signal: AbortSignal,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const both = new AbortController();
  const end = () => both.abort();
  const timer = setTimeout(end, ms);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    return await call(both.signal);
  } catch (reason) {
    if (signal.aborted || !both.signal.aborted) throw reason;
    throw new Fault("deadline_exceeded", `the server did not answer within ${ms / 1_000} s`);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}
