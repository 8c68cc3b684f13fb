import type { BenchmarkJobView, RequestDetail } from "#api/benchmark-request.ts";
import { first, tagOf } from "./made-up-series.ts";

function madeUpJob(now: Date, n: number, changes: Partial<BenchmarkJobView>): BenchmarkJobView {
  const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString();
  return {
    id: `00000000-0000-4000-8000-0000000${10_000 + n}`,
    artifact: "nightly-20250919",
    against: null,
    purpose: "own",
    section: "compile",
    target: "linux-x64",
    backend: n % 2 === 0 ? "js" : "native",
    profile: ["check", "emit", "declarations"][n % 3] ?? "check",
    set: n % 2,
    benchmarks: [],
    runs: null,
    optional: false,
    state: "success",
    attempts: 1,
    maxAttempts: 3,
    collector: `barn-${1 + (n % 2)}`,
    createdAt: ago(60),
    startedAt: ago(50 - n * 3),
    endedAt: ago(47.4 - n * 3),
    error: null,
    usualSeconds: 150,
    ...changes,
  };
}

const nothingKnown = { startsAt: null, endsAt: null, leastEndsAt: null, mostEndsAt: null };

export function madeUpRequests(now: Date, dates: readonly number[]): RequestDetail[] {
  const time = (minutes: number) => new Date(now.getTime() + minutes * 60_000).toISOString();
  const tag = (back: number) => tagOf(dates.at(-back) ?? first);
  const request = (n: number, changes: Partial<RequestDetail>): RequestDetail => ({
    id: `11111111-0000-4000-8000-0000000${10_000 + n}`,
    suite: "typescript",
    artifact: tag(n),
    parent: tag(n + 1),
    kind: "master",
    pr: null,
    state: "completed",
    backends: [],
    profiles: [],
    targets: [],
    benchmarks: [],
    paired: false,
    runs: null,
    requestedBy: "grange",
    because: "a new nightly",
    createdAt: time(-60 * n - 90),
    startedAt: time(-60 * n - 60),
    endedAt: time(-60 * n - 14),
    endedBy: null,
    jobs: { total: 12, ended: 12, failed: 0 },
    errors: 0,
    jobList: [],
    errorList: [],
    place: null,
    placeBecause: null,
    estimate: nothingKnown,
    hasReport: true,
    unserved: [],
    ...changes,
  });
  const jobs = Array.from({ length: 12 }, (_, n) =>
    madeUpJob(now, n, {
      artifact: n < 4 ? tag(2) : tag(1),
      purpose: n < 4 ? "backfill" : "own",
      ...(n < 6
        ? {}
        : n < 8
          ? { state: "in-progress", endedAt: null, startedAt: time(-1.2 - n / 10) }
          : { state: "queued", startedAt: null, endedAt: null, attempts: 0, collector: null }),
    }),
  );
  const open = {
    startedAt: null,
    endedAt: null,
    hasReport: false,
    jobs: { total: 0, ended: 0, failed: 0 },
  };
  return [
    request(1, {
      state: "in-progress",
      endedAt: null,
      startedAt: time(-24),
      hasReport: false,
      jobs: { total: 12, ended: 6, failed: 0 },
      jobList: jobs,
      estimate: {
        startsAt: time(-24),
        endsAt: time(17),
        leastEndsAt: time(12),
        mostEndsAt: time(29),
      },
    }),
    request(40, {
      ...open,
      state: "artifacts-ready",
      artifact: "5.9.3",
      parent: "5.9.2",
      kind: "release",
      because: "a new release",
      place: 1,
      placeBecause: "releases go before nightlies and tries",
      estimate: {
        startsAt: time(17),
        endsAt: time(58),
        leastEndsAt: time(49),
        mostEndsAt: time(80),
      },
    }),
    request(41, {
      ...open,
      state: "artifacts-ready",
      artifact: "try-faster-checker",
      parent: tag(3),
      kind: "try",
      pr: 4711,
      paired: true,
      requestedBy: "bram",
      because: "",
      benchmarks: ["rxjs", "zod"],
      place: 2,
      placeBecause: "the lowest pull request of what is left",
    }),
    request(42, {
      ...open,
      state: "waiting-for-artifacts",
      artifact: "try-next",
      parent: tag(2),
      kind: "try",
      requestedBy: "ada",
      because: "",
      place: 3,
      placeBecause: "its artifact is not there yet",
    }),
    request(2, {
      errors: 2,
      jobs: { total: 12, ended: 12, failed: 1 },
      jobList: jobs.map((job, n) => ({
        ...job,
        artifact: tag(2),
        purpose: n < 10 ? ("own" as const) : n === 10 ? ("paired" as const) : ("confirm" as const),
        against: n < 10 ? null : tag(3),
        state: n === 5 ? ("failure" as const) : ("success" as const),
        attempts: n === 5 ? 3 : 1,
        error: n === 5 ? "the collector was killed three times while it measured this" : null,
        startedAt: time(-170 + n * 3),
        endedAt: time(-168 + n * 3),
        collector: "barn-1",
      })),
      errorList: [
        {
          artifact: tag(2),
          benchmark: "valibot",
          case: null,
          message: "src/index.ts(12,3): error TS2322: Type 'string' is not assignable\n1 error",
          at: time(-140),
        },
        {
          artifact: tag(2),
          benchmark: "ajv",
          case: "emit full js",
          message: "exit code 134: out of memory",
          at: time(-139),
        },
      ],
    }),
    request(3, {}),
    request(4, {
      state: "failed",
      errors: 12,
      jobs: { total: 12, ended: 12, failed: 12 },
      hasReport: false,
    }),
    request(5, { state: "cancelled", hasReport: false, endedBy: "ada", errors: 0 }),
    request(6, {}),
  ];
}
