import type { ExecutionDetail } from "#api/execution.ts";
import type { InvocationAction, InvocationCounts, InvocationDetail } from "#api/invocation.ts";
import { commitFor } from "./made-up-graph.ts";

export interface FakeInvocation {
  detail: InvocationDetail;
  actions: readonly InvocationAction[];
}

const hash = (text: string) => commitFor(text).repeat(2).slice(0, 64);
const after = (time: string, ms: number) => new Date(Date.parse(time) + ms).toISOString();
const uuidFor = (text: string) =>
  hash(text).replace(/^(.{8})(.{4})(.{3})(.{3})(.{12}).*$/, "$1-$2-4$3-8$4-$5");

/** Returns actions of all states, the same for the same name. */
export function madeUpActions(id: string, startedAt: string, count: number): InvocationAction[] {
  const packages = ["lib/net", "lib/store", "app", "tools/gen"];
  const mnemonics = ["CppCompile", "CppCompile", "CppCompile", "Genrule", "CppLink", "TestRunner"];
  return Array.from({ length: count }, (_, n): InvocationAction => {
    const name = `${id} ${n}`;
    const state = n % 9 < 5 ? "hit" : n % 41 === 40 ? "failed" : "succeeded";
    const requestedAt = after(startedAt, n * 40);
    const ran = state !== "hit";
    return {
      actionDigest: `${hash(name)}/142`,
      target: `//${packages[n % packages.length]}:unit_${n}`,
      mnemonic: mnemonics[n % mnemonics.length] ?? "",
      configuration: "k8-fastbuild",
      state,
      executionId: ran ? uuidFor(name) : null,
      joined: ran && n % 13 === 0,
      requestedAt,
      startedAt: ran ? after(requestedAt, 30) : null,
      finishedAt: ran ? after(requestedAt, 900 + (n % 50) * 60) : null,
      worker: ran ? `barn-${1 + (n % 2)}` : null,
      outcome: ran ? state : null,
      exitCode: ran ? (state === "failed" ? 1 : 0) : null,
    };
  });
}

export function countsOfActions(actions: readonly InvocationAction[]): InvocationCounts {
  const counts = { hits: 0, queued: 0, executing: 0, succeeded: 0, failed: 0, cancelled: 0 };
  for (const { state } of actions) counts[state === "hit" ? "hits" : state] += 1;
  return counts;
}

const test = (label: string, changes: object) => ({
  label,
  kind: "cc_test rule",
  success: true,
  aborted: null,
  testStatus: "PASSED",
  durationMs: 2_300,
  tests: [],
  outputs: [],
  ...changes,
});

const oneTest = (attempt: number, status: string, shard = 1) => ({
  run: 1,
  shard,
  attempt,
  status,
  startedAt: null,
  durationMs: 800 + attempt * 310,
  cached: false,
  files: [
    { name: "test.log", blob: `${hash(`${attempt} ${status}`)}/2048`, project: "default", uri: "" },
    { name: "test.xml", blob: null, project: null, uri: "file:///tmp/test.xml" },
  ],
});

/** An invocation of Bazel with all kinds of build events. */
export function madeUpInvocation(
  id: string,
  startedAt: string,
  changes: Partial<InvocationDetail> = {},
  actions: readonly InvocationAction[] = madeUpActions(id, startedAt, 60),
): FakeInvocation {
  const counts = countsOfActions(actions);
  return {
    actions,
    detail: {
      project: "default",
      id,
      correlatedId: "",
      state: "failed",
      tool: { name: "bazel", version: "7.7.1" },
      principal: "anyone",
      startedAt,
      endedAt: after(startedAt, 64_000),
      counts,
      waiting: null,
      build: {
        command: "test",
        patterns: ["//lib/...", "//app:all"],
        user: "ada",
        host: "laptop",
        repository: "https://forge.example/farm/grange.git",
        branch: "main",
        commit: commitFor("now"),
        exitCode: 3,
        exitName: "TESTS_FAILED",
      },
      events: {
        complete: true,
        options: ["--config=grange", "--jobs=50", "--remote_executor=grpc://farm:8980"],
        metadata: { COMMIT_SHA: commitFor("now"), ROLE: "CI" },
        workspaceStatus: { BUILD_USER: "ada", BUILD_HOST: "laptop" },
        failure: "//lib/store:store_test failed",
        logBytes: 900,
        profile: {
          name: "command.profile.gz",
          blob: `${hash("profile")}/48213`,
          project: "default",
          uri: "",
        },
        moreTargets: false,
        unreadableEvents: 0,
        metrics: {
          wallTimeMs: 64_000,
          cpuTimeMs: 9_120,
          actionsExecuted: 41,
          bytesDownloaded: 5_200_000,
        },
        targets: [
          test("//lib/net:net_test", { tests: [oneTest(1, "PASSED")] }),
          test("//lib/store:store_test", {
            success: true,
            testStatus: "FAILED",
            tests: [oneTest(1, "FAILED", 1), oneTest(2, "FAILED", 1), oneTest(1, "PASSED", 2)],
          }),
          test("//lib/store:flaky_test", {
            testStatus: "FLAKY",
            tests: [oneTest(1, "FAILED"), oneTest(2, "PASSED")],
          }),
          {
            label: "//app:app",
            kind: "cc_binary rule",
            success: true,
            aborted: null,
            testStatus: null,
            durationMs: null,
            tests: [],
            outputs: [
              { name: "app/app", blob: `${hash("app")}/1843200`, project: "default", uri: "" },
            ],
          },
        ],
      },
      ...changes,
    },
  };
}

/** Returns the execution of one of an invocation's actions. */
export function madeUpExecution(
  { detail }: FakeInvocation,
  action: InvocationAction,
  changes: Partial<ExecutionDetail> = {},
): ExecutionDetail {
  const { executionId, outcome, requestedAt, startedAt, finishedAt, worker } = action;
  return {
    id: executionId ?? uuidFor(action.actionDigest),
    project: detail.project,
    domain: "protected",
    actionDigest: action.actionDigest,
    inputRoot: `${hash("inputs")}/310`,
    state: finishedAt === null ? (startedAt === null ? "queued" : "leased") : "finished",
    waiting: null,
    worker,
    sizeClass: 1,
    priority: 0,
    timeoutMs: 600_000,
    expectedDurationMs: 1_200,
    queuedAt: requestedAt,
    leasedAt: startedAt === null ? null : after(requestedAt, 12),
    startedAt,
    finishedAt,
    outcome,
    exitCode: action.exitCode,
    message: "",
    command: {
      arguments: [
        "/usr/bin/gcc",
        "-c",
        "lib/store/store.cc",
        "-o",
        "bin/store.o",
        '-DNAME="it\'s"',
      ],
      environment: { PATH: "/usr/bin:/bin", PWD: "/proc/self/cwd" },
      workingDirectory: "",
      platform: { OSFamily: "linux", size: "small" },
    },
    image: null,
    persistentRequest: 0,
    usage: { userMs: 640, systemMs: 90, peakMemoryBytes: 84_000_000, measuredBy: "cgroup-v2" },
    moreOutputs: 0,
    outputs: [
      {
        kind: "file",
        path: "bin/store.o",
        blob: `${hash("o")}/41238`,
        sizeBytes: 41_238,
        executable: false,
      },
      { kind: "directory", path: "bin/gen", tree: `${hash("tree")}/912` },
      { kind: "symlink", path: "bin/latest", target: "store.o" },
    ],
    attempts: [
      {
        attempt: 1,
        worker: "barn-3",
        leasedAt: requestedAt,
        startedAt: requestedAt,
        finishedAt: after(requestedAt, 300),
        outcome: "worker_lost",
        message: "its worker went silent",
      },
    ],
    job: null,
    requestedBy: [
      {
        project: detail.project,
        invocation: detail.id,
        target: action.target,
        mnemonic: action.mnemonic,
        requestedAt,
      },
    ],
    ...changes,
  };
}
