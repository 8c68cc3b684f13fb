import { z } from "zod";
import { rightOnFarm, rightSomewhere } from "#core/right.ts";
import {
  AddCollector,
  ChangeCollector,
  ClaimAnswer,
  ClaimBenchmarkJob,
  CollectorHello,
  Collectors,
  CollectorView,
  CollectorWelcome,
  EndBenchmarkJob,
  EndedBenchmarkJob,
  JobHeartbeat,
  JobHeartbeatAnswer,
  RemovedCollector,
  ReportedSelfTest,
  ReportedTest,
  ReportSelfTest,
  ReportTest,
} from "../collector.ts";
import { created, endpoint, json } from "../endpoint.ts";

const jobParams = z.object({
  job: z.string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, {
    error: "this is not the id of a benchmark job",
  }),
});

/**
 * Collectors: their register, and the calls for getting jobs and reporting results.
 *
 * A grant of `measure` names collectors where other grants name repositories.
 */
export const benchmarkCollectorEndpoints = {
  benchmarkCollectors: endpoint({
    method: "GET",
    path: "/benchmarks/collectors",
    right: rightOnFarm("read"),
    summary: "All collectors, with the job that each measures now.",
    answer: json(Collectors),
  }),
  addBenchmarkCollector: endpoint({
    method: "POST",
    path: "/benchmarks/collectors",
    right: rightOnFarm("administer"),
    summary:
      "Registers a collector. 409 when the name is taken, or when another collector serves the set of the target.",
    body: AddCollector,
    answer: created(CollectorView),
  }),
  changeBenchmarkCollector: endpoint({
    method: "POST",
    path: "/benchmarks/collectors/:name",
    right: rightOnFarm("administer"),
    summary: "Changes a collector; omitted keys are not changed.",
    body: ChangeCollector,
    answer: json(CollectorView),
  }),
  removeBenchmarkCollector: endpoint({
    method: "DELETE",
    path: "/benchmarks/collectors/:name",
    right: rightOnFarm("administer"),
    summary:
      "Removes a collector. 409 while it measures a job, and if there are results of it: then deactivate it.",
    answer: json(RemovedCollector),
  }),
  benchmarkCollectorHello: endpoint({
    method: "POST",
    path: "/benchmarks/collectors/:name/hello",
    right: rightSomewhere("measure"),
    summary:
      "Makes this process the collector from now on; calls of an earlier process are refused. For this and the following calls, `--repository` of the grant is the collector's name.",
    body: CollectorHello,
    answer: json(CollectorWelcome),
  }),
  claimBenchmarkJob: endpoint({
    method: "POST",
    path: "/benchmarks/collectors/:name/claim",
    right: rightSomewhere("measure"),
    summary:
      "The next job, after at most `waitMs`; without a job, the reason. A repeated call gets the same job.",
    body: ClaimBenchmarkJob,
    answer: json(ClaimAnswer),
  }),
  reportBenchmarkSelfTest: endpoint({
    method: "POST",
    path: "/benchmarks/collectors/:name/self-test",
    right: rightSomewhere("measure"),
    summary: "Alarms in comparisons of an artifact with itself.",
    body: ReportSelfTest,
    largeBody: { bytes: 4 * 1024 * 1024, verb: "measure" },
    answer: json(ReportedSelfTest),
  }),
  benchmarkJobHeartbeat: endpoint({
    method: "POST",
    path: "/benchmarks/jobs/:job/heartbeat",
    right: rightSomewhere("measure"),
    summary:
      "Renews the lease, or answers that the job was cancelled. This and the next two calls answer 409 `aborted` to a collector that no longer has the lease of the job; it must drop the job.",
    params: jobParams,
    body: JobHeartbeat,
    answer: json(JobHeartbeatAnswer),
  }),
  reportBenchmarkTest: endpoint({
    method: "POST",
    path: "/benchmarks/jobs/:job/test",
    right: rightSomewhere("measure"),
    summary: "Results of one case: all are stored, or none. A repeated report is stored once.",
    params: jobParams,
    body: ReportTest,
    largeBody: { bytes: 16 * 1024 * 1024, verb: "measure" },
    answer: json(ReportedTest),
  }),
  endBenchmarkJob: endpoint({
    method: "POST",
    path: "/benchmarks/jobs/:job/end",
    right: rightSomewhere("measure"),
    summary: "Ends the job: measured, failed, or given back.",
    params: jobParams,
    body: EndBenchmarkJob,
    answer: json(EndedBenchmarkJob),
  }),
} as const;
