import { describe, expect, test } from "vitest";
import { errorPlace } from "./error-place.ts";
import { graphCheck } from "./graph-check.ts";
import type { GraphToTell } from "./report-source.ts";
import { aFailedJob, aGraph } from "./told.fixture.ts";

const place = { sha: "a".repeat(40), name: "grange", externalId: "grange/a/grange" };
const check = (told: Partial<GraphToTell>) =>
  graphCheck(
    { graph: aGraph(), failed: [], others: [], url: "https://farm.test/graphs/1", ...told },
    place,
  );
const line = (text: string) => ({ line: 1, text });

describe("a place in a tool's line", () => {
  test.each([
    ["src/a.ts:12:5 - error TS2322", "src/a.ts", 12],
    ["src/a.ts(12,5): error TS2322", "src/a.ts", 12],
    ["  --> src/main.rs:3:5", "src/main.rs", 3],
    ["./lib/x.c:7: error: expected ';'", "lib/x.c", 7],
    ['  File "tests/a.py", line 12, in test', "tests/a.py", 12],
    ["12:30:05 src/a.go:4: undefined: x", "src/a.go", 4],
    ["at run (src/a.js:9:1)", "src/a.js", 9],
  ])("%s", (text, path, at) => {
    expect(errorPlace(text)).toEqual({ path, line: at });
  });

  test.each([
    "it failed",
    "12:30:05 it failed",
    "/etc/passwd:1: root",
    "../secret.ts:1",
    "src/../../a.ts:1",
    "C:\\a.ts:1",
    "https://x.test:80/a",
    "src/a.ts:0",
    "localhost:80",
    "a\u202eb.ts:1",
  ])("is none: %s", (text) => {
    expect(errorPlace(text)).toBeUndefined();
  });

  test("is found in a long line within a short time", () => {
    const before = process.cpuUsage();
    for (const text of ["a:1".repeat(20_000), ":1(1,".repeat(20_000), "a/".repeat(20_000)]) {
      errorPlace(text);
    }
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(200);
  });
});

describe("a graph's check run", () => {
  test.each([
    { state: "running", counts: { running: 3 }, title: "Running", kind: "in_progress" },
    {
      state: "running",
      counts: { running: 2, failed: 1 },
      title: "1 of 3 jobs failed so far",
      kind: "in_progress",
    },
    {
      state: "succeeded",
      counts: { succeeded: 3 },
      title: "All requested jobs succeeded",
      kind: "completed",
      conclusion: "success",
    },
    {
      state: "failed",
      counts: { failed: 1, unreachable: 2 },
      title: "1 of 3 jobs failed",
      kind: "completed",
      conclusion: "failure",
    },
    {
      state: "cancelled",
      counts: { cancelled: 3 },
      title: "Cancelled",
      kind: "completed",
      conclusion: "cancelled",
    },
  ] as const)("of one that is $state says $title", ({ title, kind, ...rest }) => {
    const { state, counts } = rest;
    const conclusion = "conclusion" in rest ? rest.conclusion : undefined;

    expect(check({ graph: aGraph({ state, counts }) })).toMatchObject({
      ...place,
      title,
      detailsUrl: "https://farm.test/graphs/1",
      state: { kind, ...(conclusion === undefined ? {} : { conclusion }) },
    });
  });

  test("is unchanged while no job ends, however often it is computed", () => {
    const running = { state: "running", finishedAt: null } as const;

    expect(check({ graph: aGraph({ ...running, version: 1, counts: { queued: 3 } }) })).toEqual(
      check({ graph: aGraph({ ...running, version: 5, counts: { running: 2, queued: 1 } }) }),
    );
  });

  test("annotates the places that its jobs' errors name, each once; otherwise the job's definition", () => {
    const errors = [line("src/a.ts:3:1 error"), line("src/a.ts:3:9 again"), line("no place")];
    const definedAt = { file: ".grange/ci.yml", line: 12 };

    const { annotations, summary } = check({
      failed: [
        aFailedJob("build", { errorLines: errors }, { definedAt }),
        aFailedJob("lint", { exitCode: 1, message: "it was killed" }, { definedAt }),
        aFailedJob("unknown"),
      ],
    });

    expect(annotations).toEqual([
      {
        path: "src/a.ts",
        startLine: 3,
        endLine: 3,
        level: "failure",
        message: "build: src/a.ts:3:1 error",
      },
      {
        path: ".grange/ci.yml",
        startLine: 12,
        endLine: 12,
        level: "failure",
        message: "lint: failed, exit code 1, it was killed",
      },
      {
        path: ".grange",
        startLine: 1,
        endLine: 1,
        level: "failure",
        message: "unknown: failed, exit code 2",
      },
    ]);
    expect(summary).toContain("3 jobs: 1 succeeded, 1 failed, 1 skipped.");
    expect(summary).toContain("#### `build`\n\nfailed, exit code 2. [The job](");
    expect(summary).toContain("```text\nsrc/a.ts:3:1 error");
  });

  test("has an annotation for each failed job before any has two, and names jobs without one", () => {
    const errorLines = [line("src/a.ts:1 error"), line("src/a.ts:2 error")];
    const failed = Array.from({ length: 40 }, (_, i) => aFailedJob(`job${i}`, { errorLines }));
    const others = ["job40", "job`41"];

    const { annotations, summary } = check({
      graph: aGraph({ jobs: 900, counts: { failed: 900 } }),
      failed,
      others,
    });

    expect(annotations).toHaveLength(50);
    expect(new Set(annotations.map(({ message }) => message.split(":")[0])).size).toBe(40);
    expect(summary).toContain("And 860 more that failed: `job40`, `job'41`, and others.");
    expect(summary).toContain("30 more places are in the logs, or above.");
  });

  test("is limited, and reports what is left out", () => {
    const errorLines = Array.from({ length: 50 }, (_, i) =>
      line(`src/a.ts:${i + 1} ${"x".repeat(480)}`),
    );
    const failed = Array.from({ length: 200 }, (_, i) => aFailedJob(`job${i}`, { errorLines }));

    const { annotations, summary } = check({
      graph: aGraph({ jobs: 900, counts: { failed: 900 } }),
      failed,
    });

    expect(annotations).toHaveLength(50);
    expect(summary.length).toBeLessThan(65_536);
    expect(summary).toMatch(/A check run cannot contain everything: \d+ parts are left out/);
  });

  test("shows the text of jobs only as plain text", () => {
    const evil = "x`</code><img src=x> @octocat #1 [a](b)\n\n# big";
    const { summary, annotations } = check({
      failed: [
        aFailedJob(evil, {
          message: evil,
          failureClass: evil,
          errorLines: [line(`src/a.ts:1 \u001b]8;;javascript:x\u0007${evil}`), line("```\n# big")],
        }),
      ],
    });
    const outside = summary
      .replaceAll(/^(`{3,})text\n[^]*?\n\1$/gm, "")
      .replaceAll(/`[^`\n]*`/g, "");

    expect(outside).not.toMatch(/<img|@octocat|#1|^# |\[a\]/m);
    expect(annotations[0]?.message.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  });
});
