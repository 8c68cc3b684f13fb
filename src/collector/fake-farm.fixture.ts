import { randomUUID } from "node:crypto";
import type {
  ClaimAnswer,
  ClaimBenchmarkJob,
  ClaimedBenchmarkJob,
  CollectorHello,
  CollectorWelcome,
  EndBenchmarkJob,
  EndedBenchmarkJob,
  JobEnd,
  JobHeartbeat,
  JobHeartbeatAnswer,
  JobHolder,
  ReportedSelfTest,
  ReportSelfTest,
  ReportTest,
} from "#api/collector.ts";
import { Fault } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import type { LabConnection } from "./lab-connection.ts";

type Component = { readonly kind: string; readonly [name: string]: unknown };

type Iterations = ClaimedBenchmarkJob["cases"][number]["iterations"];

interface FakeJob {
  readonly claimed: Omit<ClaimedBenchmarkJob, "epoch" | "attempt" | "cases">;
  readonly cases: readonly TestCase[];
  readonly iterations: Iterations | undefined;
  epoch: number;
  attempt: number;
  state: "queued" | "in-progress" | "ended" | "cancelled";
  holder: string | undefined;
  end: JobEnd | undefined;
}

export const definition = {
  suite: "tiny",
  artifacts: { from: "nowhere" },
  backends: { main: { tool: ["{artifact}/tool"] } },
  targets: { here: {} },
  metrics: {
    instructions: { take: { from: "instructions" }, nature: "deterministic", unit: "instructions" },
    wall: { take: { from: "wall-time" }, nature: "noisy", unit: "seconds" },
  },
  headline: "instructions",
  compile: {
    command: ["{tool}"],
    profiles: { check: {} },
    scenarios: { full: {} },
    benchmarks: { a: {}, b: {}, c: {} },
  },
};

export function caseOf(benchmark: string): TestCase {
  const words = { profile: "check", scenario: "full", backend: "main", target: "here" };
  return { section: "compile", benchmark, ...words };
}

/** A server inside the test, which behaves as collectors may expect, and can be made to fail. */
export class FakeFarm implements LabConnection {
  readonly jobs: FakeJob[] = [];
  /** Each stored report; repeated reports are not stored again. */
  readonly stored: { readonly jobId: string; readonly report: ReportTest }[] = [];
  readonly hellos: CollectorHello[] = [];
  readonly selfTests: ReportSelfTest[] = [];
  serverVersion = "1";
  heartbeatMs = 10;
  /** The number of reported successes that it rejects, as if it had no results. */
  disbelieves = 0;
  target = `${process.platform}-${process.arch}`;
  heartbeats = 0;
  selfTestDue = false;
  /** While set, every call fails as if the network were down. */
  away = false;
  /** Reports for which it is set are refused as invalid. */
  refuses: (report: ReportTest) => boolean = () => false;
  #speaker: string | undefined;
  #waiting = new Set<() => void>();

  enqueue(
    benchmarks: readonly string[],
    more: {
      requestId?: string;
      component?: Component;
      paired?: boolean;
      iterations?: Iterations;
    } = {},
  ): FakeJob {
    const component = more.component ?? { kind: "npm", package: "tool", version: "1.0.0" };
    const job: FakeJob = {
      claimed: {
        id: randomUUID(),
        purpose: more.paired === true ? "paired" : "own",
        requestId: more.requestId ?? randomUUID(),
        suite: "tiny",
        suiteDigest: "d",
        definition,
        artifact: { tag: "2", component },
        against: more.paired === true ? { tag: "1", component } : null,
        doubts: [],
        leaseMs: 60_000,
      },
      cases: benchmarks.map(caseOf),
      iterations: more.iterations,
      epoch: 0,
      attempt: 0,
      state: "queued",
      holder: undefined,
      end: undefined,
    };
    this.jobs.push(job);
    this.tell();
    return job;
  }

  /** Wakes tests that wait for a condition. */
  tell(): void {
    for (const look of this.#waiting) look();
  }

  async until<T>(condition: () => T | undefined | false): Promise<T> {
    for (;;) {
      const value = condition();
      if (value !== undefined && value !== false) return value;
      await new Promise<void>((resolve) => {
        const look = () => {
          this.#waiting.delete(look);
          resolve();
        };
        this.#waiting.add(look);
        // Polls, because events of the test's bench do not arrive here.
        setTimeout(look, 10);
      });
    }
  }

  ended(job: FakeJob): Promise<JobEnd> {
    return this.until(() => job.end);
  }

  /** Returns the stored results of a benchmark, from all reports. */
  storedOf(benchmark: string): ReportTest[] {
    return this.stored
      .map(({ report }) => report)
      .filter((each) => each.case.benchmark === benchmark);
  }

  /** Returns the job to the queue, as after an expired lease. */
  requeue(job: FakeJob): void {
    job.state = "queued";
    job.holder = undefined;
  }

  async hello(hello: CollectorHello): Promise<CollectorWelcome> {
    this.#check();
    this.hellos.push(hello);
    this.#speaker = hello.incarnation;
    this.tell();
    const fingerprint = JSON.stringify(hello.environment);
    return {
      fingerprint,
      target: this.target,
      serverVersion: this.serverVersion,
      heartbeatMs: this.heartbeatMs,
    };
  }

  async claim(claim: ClaimBenchmarkJob, signal: AbortSignal): Promise<ClaimAnswer> {
    this.#check();
    if (claim.incarnation !== this.#speaker) throw new Fault("aborted", "another speaks");
    const own = () => this.jobs.find((each) => each.state === "in-progress");
    const next = () => own() ?? this.jobs.find((each) => each.state === "queued");
    if (!next()) await Promise.race([this.until(() => next()), rest(claim.waitMs, signal)]);
    if (signal.aborted) throw new Fault("cancelled", "the call was given up");
    this.#check();
    const { serverVersion, selfTestDue } = this;
    const job = next();
    if (!job) return { job: null, because: "no job is queued for it", serverVersion, selfTestDue };
    if (job.holder !== claim.incarnation) {
      job.epoch += 1;
      job.attempt += 1;
    }
    job.state = "in-progress";
    job.holder = claim.incarnation;
    const cases = job.cases
      .map((each) => ({
        case: each,
        storedPairs: this.#pairsOf(job, each),
        ...(job.iterations && { iterations: job.iterations }),
      }))
      .filter((each) => job.claimed.purpose === "paired" || !this.#has(each.case));
    const { epoch, attempt } = job;
    const answer = { ...job.claimed, epoch, attempt, cases };
    return { job: answer, because: null, serverVersion, selfTestDue };
  }

  async heartbeat(jobId: string, { holder }: JobHeartbeat): Promise<JobHeartbeatAnswer> {
    this.#check();
    this.heartbeats += 1;
    this.tell();
    const cancelled = this.jobs.some(
      ({ claimed, state }) => claimed.id === jobId && state === "cancelled",
    );
    if (!cancelled) this.#held(jobId, holder);
    return { cancelled, leaseMs: 60_000 };
  }

  async report(jobId: string, report: ReportTest): Promise<void> {
    this.#check();
    this.#held(jobId, report.holder);
    if (this.refuses(report)) throw new Fault("invalid_argument", "that makes no sense");
    this.stored.push({ jobId, report });
    this.tell();
  }

  async end(jobId: string, { holder, end }: EndBenchmarkJob): Promise<EndedBenchmarkJob> {
    this.#check();
    const job = this.#held(jobId, holder);
    job.end = end;
    if (end.outcome === "handed-back") job.attempt -= 1;
    const isAgain =
      end.outcome === "handed-back" || end.outcome === "transient" || this.disbelieves > 0;
    if (end.outcome === "success" && this.disbelieves > 0) {
      this.disbelieves -= 1;
      this.stored.length = 0;
    }
    job.state = isAgain ? "queued" : "ended";
    job.holder = undefined;
    this.tell();
    if (isAgain) return { state: "queued" };
    return { state: end.outcome === "success" ? "success" : "failure" };
  }

  async selfTest(report: ReportSelfTest): Promise<ReportedSelfTest> {
    this.#check();
    this.selfTests.push(report);
    this.selfTestDue = false;
    this.tell();
    return { passed: true, outOfDuty: null };
  }

  async *fetchBlob(): AsyncGenerator<Uint8Array> {}

  #held(jobId: string, holder: JobHolder): FakeJob {
    const job = this.jobs.find(({ claimed }) => claimed.id === jobId);
    if (!job || job.state !== "in-progress" || job.epoch !== holder.epoch)
      throw new Fault("aborted", `job ${jobId} is not yours`);
    if (job.holder !== holder.incarnation) throw new Fault("aborted", "another speaks");
    return job;
  }

  #has(testCase: TestCase): boolean {
    return this.stored.some(({ report }) => caseKey(report.case) === caseKey(testCase));
  }

  #pairsOf(job: FakeJob, testCase: TestCase): number {
    return this.stored.filter(
      ({ jobId, report }) => jobId === job.claimed.id && caseKey(report.case) === caseKey(testCase),
    ).length;
  }

  #check(): void {
    if (this.away) throw new Fault("unavailable", "the server is away");
  }
}
