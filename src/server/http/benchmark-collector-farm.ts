import type { z } from "zod";
import type { Principal } from "#access/principal.ts";
import type {
  AddCollector,
  ChangeCollector,
  ClaimAnswer,
  ClaimBenchmarkJob,
  CollectorHello,
  CollectorView,
  CollectorWelcome,
  EndBenchmarkJob,
  EndedBenchmarkJob,
  JobHeartbeatAnswer,
  JobHolder,
  ReportedSelfTest,
  ReportedTest,
  ReportSelfTest,
  ReportTest,
} from "#api/collector.ts";

/** Machines that measure: who they are, and what they and the farm tell each other. */
export interface BenchmarkCollectorFarm {
  benchmarkCollectors(): Promise<CollectorView[]>;
  addBenchmarkCollector(
    wanted: z.output<typeof AddCollector>,
    by: Principal,
  ): Promise<CollectorView>;
  changeBenchmarkCollector(
    name: string,
    change: ChangeCollector,
    by: Principal,
  ): Promise<CollectorView>;
  removeBenchmarkCollector(name: string, by: Principal): Promise<void>;
  benchmarkCollectorHello(
    name: string,
    hello: CollectorHello,
    by: Principal,
  ): Promise<CollectorWelcome>;
  /** Waits for a job, as long as the claim says or until nobody listens any more. */
  claimBenchmarkJob(
    name: string,
    claim: ClaimBenchmarkJob,
    by: Principal,
    signal: AbortSignal,
  ): Promise<ClaimAnswer>;
  reportBenchmarkSelfTest(
    name: string,
    report: z.output<typeof ReportSelfTest>,
    by: Principal,
  ): Promise<ReportedSelfTest>;
  benchmarkJobHeartbeat(id: string, holder: JobHolder, by: Principal): Promise<JobHeartbeatAnswer>;
  reportBenchmarkTest(
    id: string,
    report: z.output<typeof ReportTest>,
    by: Principal,
  ): Promise<ReportedTest>;
  endBenchmarkJob(
    id: string,
    ending: z.output<typeof EndBenchmarkJob>,
    by: Principal,
  ): Promise<EndedBenchmarkJob>;
}
