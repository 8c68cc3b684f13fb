import { expect, test } from "vitest";
import { allPlaces } from "#core/place-patterns.ts";
import {
  Aborted_AbortReason,
  TestStatus,
} from "#proto/build_event_stream/build_event_stream_pb.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { deleteOldBuilds } from "./build.store.ts";
import { buildSummaries } from "./build-detail.ts";
import {
  bazelEvent,
  completed,
  configured,
  fileSet,
  finished,
  hashA,
  lastEvent,
  printed,
  started,
  summed,
  tested,
} from "./build-events.fixture.ts";
import { keepLifecycle, noteStreamOpen } from "./keep-build-events.ts";
import { buildsOfCommit } from "./read-builds.store.ts";
import { tellingTo } from "./telling.fixture.ts";

const db = await freshDb();
const { teller, tell, detailOf, logOf } = tellingTo(db);

test("sets of files that hold each other end, and each file is named once", async () => {
  const who = teller();

  await tell(who, [
    fileSet("a", ["a.txt"], ["b"]),
    fileSet("b", ["b.txt"], ["a", "b", "nowhere"]),
    completed("//:x", true, ["a", "b"]),
  ]);

  const [target] = (await detailOf(who)).targets;
  expect(target?.outputs.map(({ name }) => name)).toEqual(["a.txt", "b.txt"]);
});

test("each of many targets told at once has its own files, those of shared sets too", async () => {
  const who = teller();
  const targets = Array.from({ length: 50 }, (_, i) => `${i}`);

  await tell(who, [
    fileSet("shared", ["shared.txt"]),
    ...targets.map((each) => fileSet(each, [`${each}.txt`], ["shared"])),
    ...targets.map((each) => completed(`//:${each}`, true, [each])),
    completed("//:none", true, []),
  ]);

  const detail = await detailOf(who);
  const files = new Map(
    detail.targets.map(({ label, outputs }) => [label, outputs.map(({ name }) => name)]),
  );
  expect(files.get("//:none")).toEqual([]);
  for (const each of targets)
    expect(files.get(`//:${each}`)).toEqual([`${each}.txt`, "shared.txt"]);
});

test("of a target with a thousand files, the first hundred are kept", async () => {
  const who = teller();
  const sets = Array.from({ length: 10 }, (_, i) =>
    fileSet(
      `${i}`,
      Array.from({ length: 100 }, (_, j) => `${i}-${j}`),
      i > 0 ? [`${i - 1}`] : [],
    ),
  );

  await tell(who, [...sets, completed("//:x", true, ["9"])]);

  const [target] = (await detailOf(who)).targets;
  expect(target?.outputs).toHaveLength(100);
  expect(target?.outputs[0]?.name).toBe("9-0");
});

test("a target of two configurations succeeds when both do, in one batch or in two", async () => {
  const [together, apart] = [teller(), teller()];
  const events = [completed("//:x", false, []), completed("//:x", true, [])];

  await tell(together, events);
  for (const [i, event] of events.entries()) {
    await tell(apart, [event], i + 1);
  }

  for (const who of [together, apart]) {
    expect((await detailOf(who)).targets).toMatchObject([{ success: false }]);
  }
});

test("a test is told with its shards, and before it is summed up", async () => {
  const who = teller();
  await tell(who, [
    configured("//:t", "sh_test rule"),
    tested("//:t", 1, TestStatus.PASSED, 2),
    tested("//:t", 1, TestStatus.TIMEOUT, 1),
  ]);
  expect((await detailOf(who)).targets[0]?.tests).toMatchObject([
    { shard: 1, status: "TIMEOUT", files: [{ blob: `${hashA}/12` }] },
    { shard: 2, status: "PASSED" },
  ]);

  await tell(who, [summed("//:t", TestStatus.TIMEOUT)], 4);

  expect((await detailOf(who)).targets[0]?.testStatus).toBe("TIMEOUT");
});

test("what was left out is not blamed; what could not be analysed is", async () => {
  const who = teller();
  const aborted = (label: string, reason: Aborted_AbortReason, description: string) =>
    bazelEvent({
      id: { id: { case: "targetCompleted", value: { label } } },
      payload: { case: "aborted", value: { reason, description } },
    });

  await tell(who, [
    aborted("//:skipped", Aborted_AbortReason.SKIPPED, "incompatible"),
    aborted("//:broken", Aborted_AbortReason.ANALYSIS_FAILURE, "no such rule"),
    aborted("//:odd", 99 as Aborted_AbortReason, ""),
    finished(1, "BUILD_FAILURE"),
  ]);

  const detail = await detailOf(who);
  expect(detail.failure).toBe("no such rule");
  expect(detail.targets).toMatchObject([
    { label: "//:broken", success: false, aborted: "ANALYSIS_FAILURE: no such rule" },
    { label: "//:odd", success: false, aborted: "UNKNOWN" },
    { label: "//:skipped", success: null, aborted: "SKIPPED: incompatible" },
  ]);
});

test("a tool that broke down is ended by the frame around its events", async () => {
  const who = teller();
  await tell(who, [started("build", [])]);
  expect((await buildSummaries(db, [who]))[0]?.exit).toBeNull();

  await keepLifecycle(db, who, [{ kind: "result", result: "COMMAND_FAILED" }], new Date());

  const [summary] = await buildSummaries(db, [who]);
  expect(summary?.exit).toEqual({ code: 1, name: "COMMAND_FAILED" });
  expect(summary?.build.exitCode).toBeNull();
});

test("a tool whose first call is refused is ended by the end of its stream, and says why", async () => {
  const [silent, told] = [teller(), teller()];
  await tell(silent, [started("build", []), printed("ERROR: no such instance\n"), lastEvent()]);
  const refused = "Failed to query remote execution capabilities: no token";
  await tell(told, [
    started("build", []),
    bazelEvent({
      id: { id: { case: "buildFinished", value: {} } },
      payload: {
        case: "aborted",
        value: { reason: Aborted_AbortReason.REMOTE_ENVIRONMENT_FAILURE, description: refused },
      },
    }),
    lastEvent(),
  ]);

  for (const who of [silent, told]) {
    const [summary] = await buildSummaries(db, [who]);
    expect(summary?.exit).toEqual({ code: 1, name: "ABORTED" });
  }
  expect((await detailOf(silent)).failure).toContain("its log says why");
  expect((await detailOf(told)).failure).toBe(refused);
});

test("an open stream is heard of, though nothing is told", async () => {
  const who = teller();
  await tell(who, [started("build", [])]);
  const later = new Date(Date.now() + 120_000);

  await noteStreamOpen(db, who, later);

  expect((await buildSummaries(db, [who]))[0]?.endedAt).toEqual(later);
});

test("times that a tool's clock got wrong are replaced by when they were heard", async () => {
  const who = teller();
  const value = { command: "build", startTimeMillis: 4n };
  await tell(who, [bazelEvent({ payload: { case: "started", value } })]);

  const age = Date.now() - ((await buildSummaries(db, [who]))[0]?.startedAt.getTime() ?? 0);

  expect(age).toBeLessThan(60_000);
});

test("texts that the database cannot keep, or that have no end, are kept as far as they can be", async () => {
  const who = teller();
  const value = { command: `a\0${"b".repeat(1e5)}`, buildToolVersion: "x" };

  await tell(who, [
    bazelEvent({ payload: { case: "started", value } }),
    configured(`//:${"x".repeat(5_000)}`, "\0"),
    printed("a\0b"),
  ]);

  const [summary] = await buildSummaries(db, [who]);
  expect(summary?.build.command).toMatch(/^a\uFFFDbbb/);
  expect(summary?.build.command.length).toBeLessThan(1_000);
  expect(await logOf(who)).toBe("a\0b");
});

test("builds are found by their commit, or its beginning, until they are old", async () => {
  const told = (commit: string) =>
    bazelEvent({
      payload: { case: "buildMetadata", value: { metadata: { COMMIT_SHA: commit } } },
    });
  const commit = `beef${"0".repeat(36)}`;
  const [one, two, three, other] = [teller("old"), teller("old"), teller("old"), teller("old")];
  for (const who of [one, two, three]) {
    await tell(who, [told(commit), printed("x"), configured("//:x", "y")]);
  }
  await tell(other, [told(`beee${"0".repeat(36)}`)]);
  const find = async (asked: object = {}) => {
    const all = { commit, project: "old", limit: 10, places: allPlaces, ...asked };
    return (await buildsOfCommit(db, all)).map(({ invocation }) => invocation);
  };
  const newestFirst = [three, two, one].map(({ invocation }) => invocation);

  expect(await find({ commit: "BEEF000" })).toEqual(newestFirst);
  expect(await find({ limit: 2 })).toEqual(newestFirst.slice(0, 2));
  expect(await find({ project: "none" })).toEqual([]);

  expect(await deleteOldBuilds(db, new Date(Date.now() - 60_000))).toBe(0);
  while ((await deleteOldBuilds(db, new Date(Date.now() + 600_000))) > 0);
  expect(await find()).toEqual([]);
  expect(await logOf(one)).toBe("");
});
