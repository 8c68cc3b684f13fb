import { z } from "zod";
import {
  type AddCollector,
  type ChangeCollector,
  ClaimAnswer,
  Collectors,
  CollectorView,
  CollectorWelcome,
  EndedBenchmarkJob,
  JobHeartbeatAnswer,
  ReportedSelfTest,
  ReportedTest,
} from "#api/collector.ts";
import type { LabConnection } from "#collector/lab-connection.ts";
import { Fault } from "#core/fault.ts";
import type { ApiClient } from "./api-client.ts";

const collectors = "/benchmarks/collectors";

/** The register of collectors. */
export function collectorCalls({
  get,
  post,
  delete: remove,
}: Pick<ApiClient, "get" | "post" | "delete">) {
  return {
    collectors: async () => (await get(Collectors, collectors)).collectors,
    addCollector: (wanted: AddCollector) => post(CollectorView, collectors, wanted),
    changeCollector: (name: string, change: ChangeCollector) =>
      post(CollectorView, pathOf(name), change),
    removeCollector: (name: string) => remove(z.unknown(), pathOf(name), {}),
  };
}

/** A connection that was cut without a word is given up after it. */
const answerMs = 15_000;

/** A test's report may be large, and a busy server slow: told again it would be as large. */
const reportMs = 60_000;

/** What a collector of this name asks and tells. */
export function labConnection(
  { post, bytes }: Pick<ApiClient, "post" | "bytes">,
  name: string,
): LabConnection {
  const tell = <Shape extends z.ZodType>(
    shape: Shape,
    path: string,
    body: unknown,
    signal: AbortSignal,
    mostMs = answerMs,
  ) => within(mostMs, signal, (both) => post(shape, path, body, both));
  const job = (id: string, verb: string) => `/benchmarks/jobs/${encodeURIComponent(id)}/${verb}`;
  return {
    hello: (hello, signal) => tell(CollectorWelcome, `${pathOf(name)}/hello`, hello, signal),
    claim: (claim, signal) =>
      tell(ClaimAnswer, `${pathOf(name)}/claim`, claim, signal, claim.waitMs + answerMs),
    heartbeat: (id, body, signal) => tell(JobHeartbeatAnswer, job(id, "heartbeat"), body, signal),
    report: async (id, body, signal) => {
      await tell(ReportedTest, job(id, "test"), body, signal, reportMs);
    },
    end: (id, body, signal) => tell(EndedBenchmarkJob, job(id, "end"), body, signal),
    selfTest: (body, signal) =>
      tell(ReportedSelfTest, `${pathOf(name)}/self-test`, body, signal, reportMs),
    fetchBlob: (digest, signal) => bytes(`/blobs/${digest}`, signal),
  };
}

function pathOf(name: string): string {
  return `${collectors}/${encodeURIComponent(name)}`;
}

/** Not `AbortSignal.any`: of a signal that lives for months it keeps something for each call. */
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
