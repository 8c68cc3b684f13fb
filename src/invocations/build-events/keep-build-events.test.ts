import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { openPostgres } from "#db/postgres.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { buildSummaries } from "./build-detail.ts";
import { hashA, lastEvent, printed, sampleBuild, started } from "./build-events.fixture.ts";
import { keepBuildEvents } from "./keep-build-events.ts";
import { numbered, tellingTo } from "./telling.fixture.ts";

const url = await freshDatabase();
/** Two servers. */
const dbs = [openPostgres({ url }), openPostgres({ url })] as const;
const [db] = dbs;
afterAll(() => Promise.all(dbs.map((each) => each.close())));
const { teller, tell, detailOf, logOf } = tellingTo(db);

test("a build is told from its first event to its last", async () => {
  const who = teller();

  await tell(who, sampleBuild());

  const [summary] = await buildSummaries(db, [who]);
  expect(summary).toMatchObject({
    exit: { code: 1, name: "BUILD_FAILURE" },
    build: {
      command: "test",
      patterns: ["//app/...", "//lib:all"],
      user: "ada",
      host: "desk",
      repository: "https://git.example/app.git",
      commit: "0123456789abcdef0123456789abcdef01234567",
    },
  });
  const detail = await detailOf(who);
  expect(detail).toMatchObject({
    complete: true,
    options: ["--remote_header=authorization=[hidden]", "--jobs=4"],
    metadata: { ROLE: "CI", API_TOKEN: "[hidden]" },
    failure: "//lib:bad Genrule: it ended with exit code 3",
    profile: { name: "command.profile.gz", blob: `${hashA}/12` },
    metrics: { wallTimeMs: 2_189, actionsExecuted: 10, "run by remote cache hit": 7 },
    moreTargets: false,
  });
  expect(detail.targets.map(({ label, success }) => [label, success])).toEqual([
    ["//lib:bad", false],
    ["//app:flaky", true],
    ["//app:main", true],
  ]);
  const [, flaky, main] = detail.targets;
  expect(flaky).toMatchObject({ kind: "sh_test rule", testStatus: "FLAKY", durationMs: 130 });
  expect(flaky?.tests.map(({ attempt, status }) => [attempt, status])).toEqual([
    [1, "FAILED"],
    [2, "PASSED"],
  ]);
  expect(main?.outputs.map(({ name }) => name)).toEqual(["main", "deep.txt"]);
  expect(await logOf(who)).toBe("Loading: \nERROR: \u001b[31mbad\u001b[0m failed\n");
  expect(detail.logBytes).toBe(Buffer.byteLength(await logOf(who)));
});

test("however its streams are cut, doubled and moved between servers, a build is the same", async () => {
  const events = sampleBuild();
  const straight = teller();
  await tell(straight, events);
  const [expected, log] = [await detailOf(straight), await logOf(straight)];

  // Each attempt starts at or before the last acknowledged event, like a tool that lost some answers.
  const go = fc.record({
    back: fc.nat(5),
    length: fc.integer({ min: 1, max: 9 }),
    server: fc.nat(1),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(go, { maxLength: 12 }), async (goes) => {
      const who = teller();
      let answered = 0;
      const send = async (from: number, to: number, server: number) => {
        const part = numbered(events.slice(from, to), from + 1);
        const kept = await keepBuildEvents(dbs[server] ?? db, who, part, new Date());
        answered = Math.max(answered, from + kept);
      };
      for (const { back, length, server } of goes) {
        const from = Math.max(0, answered - back);
        // Both at once: an old stream whose loss the server has not detected yet, and its replacement.
        await Promise.all([
          send(from, from + length, server),
          send(Math.max(0, from - 1), from + length, 1 - server),
        ]);
      }
      await send(answered, events.length, 0);
      expect(await detailOf(who)).toEqual(expected);
      expect(await logOf(who)).toBe(log);
    }),
    { numRuns: 25 },
  );
});

test("what comes before its turn is not kept", async () => {
  const who = teller();
  await tell(who, [started("build", [])]);

  const kept = await keepBuildEvents(db, who, numbered([printed("late\n")], 3), new Date());

  expect(kept).toBe(0);
  expect(await logOf(who)).toBe("");
});

test("another principal, another build and an event after the last are refused", async () => {
  const who = teller();
  await tell(who, [started("build", []), lastEvent()]);
  const more = numbered([printed("x")], 3);

  await expect(
    keepBuildEvents(db, { ...who, principal: "eve" }, more, new Date()),
  ).rejects.toMatchObject({ code: "permission_denied" });
  await expect(
    keepBuildEvents(db, { ...who, buildId: "other" }, more, new Date()),
  ).rejects.toMatchObject({ code: "failed_precondition" });
  await expect(keepBuildEvents(db, who, more, new Date())).rejects.toMatchObject({
    code: "failed_precondition",
  });
});

test("the same invocation id is another build in another project", async () => {
  const one = teller();
  const other = { ...one, project: "team/app", principal: "bob", buildId: "b" };

  await tell(one, [started("build", [])]);
  await tell(other, [started("test", [])]);

  const summaries = await buildSummaries(db, [one, other]);
  expect(summaries.map(({ build }) => build.command).toSorted()).toEqual(["build", "test"]);
});
