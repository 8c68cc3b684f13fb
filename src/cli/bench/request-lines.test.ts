import { expect, test } from "vitest";
import type { RequestDetail, RequestSummary } from "#api/benchmark-request.ts";
import { artifactRows, requestLines, requestRows, statusLines } from "./request-lines.ts";

const now = new Date("2026-06-01T01:00:00Z");
const summary: RequestSummary = {
  id: "3f2a0000-0000-4000-8000-000000000000",
  suite: "typescript",
  artifact: "nightly-20260601",
  parent: "nightly-20260531",
  kind: "try",
  pr: 7,
  state: "in-progress",
  backends: [],
  profiles: [],
  targets: [],
  benchmarks: ["rxjs"],
  paired: true,
  runs: 10,
  requestedBy: "ada",
  because: "",
  createdAt: "2026-06-01T00:00:00.000Z",
  startedAt: "2026-06-01T00:30:00.000Z",
  endedAt: null,
  endedBy: null,
  jobs: { total: 3, ended: 1, failed: 1 },
  errors: 2,
};
const estimate = {
  startsAt: "2026-06-01T00:30:00.000Z",
  endsAt: "2026-06-01T01:20:00.000Z",
  leastEndsAt: "2026-06-01T01:10:00.000Z",
  mostEndsAt: "2026-06-01T01:40:00.000Z",
};
const detail: RequestDetail = {
  ...summary,
  jobList: [
    {
      id: "3f2a0000-0000-4000-8000-000000000001",
      artifact: "nightly-20260601",
      against: null,
      purpose: "own",
      section: "compile",
      target: "linux-x64",
      backend: "native",
      profile: "check",
      set: 1,
      benchmarks: [],
      runs: null,
      optional: false,
      state: "failure",
      attempts: 3,
      maxAttempts: 3,
      collector: "zen",
      createdAt: "2026-06-01T00:30:00.000Z",
      startedAt: "2026-06-01T00:31:00.000Z",
      endedAt: "2026-06-01T00:41:00.000Z",
      error: "given up \u001b[31mafter three\nattempts",
      usualSeconds: 60,
    },
  ],
  errorList: [
    { artifact: "a", benchmark: "rxjs", case: null, message: "exit code 2", at: now.toISOString() },
  ],
  place: 1,
  placeBecause: "it is in progress",
  estimate,
  hasReport: false,
  unserved: [],
};

test("a request says its place, when it should end, and what went wrong; nothing of it moves the terminal", () => {
  const text = requestLines(detail, now).join("\n");

  expect(text).toContain("place 1 of the queue: it is in progress");
  expect(text).toMatch(/ends in 20/);
  expect(text).toContain("benchmarks rxjs");
  expect(text).toContain("own on linux-x64, set 1: given up");
  expect(text).toContain("rxjs: exit code 2");
  expect(text).not.toContain("\u001b");
});

test("lists have a line for each, and say when there is none", () => {
  expect(requestRows([], now)).toHaveLength(1);
  expect(requestRows([summary], now)[1]).toMatch(/3f2a0000.*try #7.*1\/3, 1 failed, 2 errors/);
  expect(artifactRows({ artifacts: [], next: null })).toHaveLength(1);
});

test("the status begins with what is wrong", () => {
  const lines = statusLines({
    at: now.toISOString(),
    queue: [{ request: summary, place: 1, because: "it is in progress", estimate }],
    recent: [],
    collectors: [],
    alarms: ["Collector zen has been silent for an hour."],
  });

  expect(lines[0]).toBe("! Collector zen has been silent for an hour.");
  expect(lines.join("\n")).toContain("nightly-20260601");
  expect(lines.at(-1)).toContain("There are no collectors yet");
});
