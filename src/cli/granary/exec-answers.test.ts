import { expect, test } from "vitest";
import { Answer } from "#granary/protocol/answers.ts";
import { readExecAnswer } from "./exec-answers.ts";

const report = {
  asked: 1,
  local: 1,
  prefetched: 0,
  fetched: 0,
  missed: 0,
  unreachable: 0,
  savedMs: 5,
  waitedMs: 0,
  transferredBytes: 0,
  wastedBytes: 0,
  uploadedBytes: 0,
};
const outbox = { results: 0, indexes: 0, reports: 0, bytes: 0 };
const address = { http: "http://127.0.0.1:4711/build/b", grpc: "grpc://127.0.0.1:4711" };
const build = { type: "build", to: 1, id: "b", project: "p", port: 4711, pid: 7, ...address };

const taken = [
  { type: "welcome", to: 1, version: 1 },
  { type: "no-common-version", to: 1, versions: [2] },
  { ...build, ready: false },
  { ...build, ready: true, settings: { DUNE_CACHE: "enabled" } },
  { type: "ended", to: 2, report: null },
  { type: "ended", to: 2, report, outbox: { ...outbox, trouble: "the farm does not answer" } },
  { type: "note", to: 2, note: "no build was started" },
];

test.each(taken)("it takes what the protocol's own reading takes: $type", (said) => {
  expect(Answer.safeParse(said).success).toBe(true);
  expect(readExecAnswer(said)).toEqual(said);
});

test.each([
  null,
  "welcome",
  [],
  {},
  { type: "welcome", to: 1 },
  { ...build },
  { ...build, ready: true, settings: { DUNE_CACHE: 1 } },
  { ...build, ready: true, port: "4711" },
  { type: "ended", to: 2 },
  { type: "ended", to: 2, report: { ...report, savedMs: "5" } },
  { type: "ended", to: 2, report, outbox: { ...outbox, trouble: {} } },
  { type: "note", to: 2, note: 1 },
])("it refuses what that refuses: %j", (said) => {
  expect(Answer.safeParse(said).success).toBe(false);
  expect(readExecAnswer(said)).toBeUndefined();
});
