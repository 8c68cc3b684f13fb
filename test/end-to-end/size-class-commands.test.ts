import { afterAll, beforeAll, expect, test } from "vitest";
import {
  ExecutionSizeClass,
  SizeClasses,
  SizeClassKeyDetail,
  SizeClassKeys,
  SizeClassSettingsNow,
} from "#api/size-class.ts";
import type { FakeFarm } from "../../web/dev/fake-farm.ts";
import { type FakeServer, startFakeServer } from "../../web/dev/fake-server.ts";
import { madeUpFarm } from "../../web/dev/made-up-farm.ts";
import { sizedExecution } from "../../web/dev/made-up-size-classes.ts";
import { grangeJson, runGrange } from "../support/run-grange.ts";

let farm: FakeFarm;
let server: FakeServer;

beforeAll(async () => {
  farm = madeUpFarm(new Date());
  server = await startFakeServer(farm, { port: 0 });
});
afterAll(() => server.stop());

const at = () => ["--server", server.url];
const lines = async (...args: string[]) => (await runGrange([...args, ...at()])).stdout;
const json = (...args: string[]) => grangeJson([...args, ...at()]);

test("an execution's decisions are explained: estimates, alternatives, result", async () => {
  const text = await lines("size-class", "explain", sizedExecution);
  const explained = ExecutionSizeClass.parse(await json("size-class", "explain", sizedExecution));

  expect(text).toMatch(/^Size class 1 was chosen first, and size class 2 in the end\.\n/);
  expect(text).toContain(
    "strategy grange, by CppLink //lib/store:unit_0, key a:made-up-0 (action)",
  );
  expect(text).toContain(
    "for 44.0 s, used 41.0 s of CPU and 1.86 GiB of memory at most, and ran out of memory.",
  );
  expect(text).toMatch(/^ {3}2 +31\.0 s +18\.6 s – 58\.9 s +not +62\.0 +2 % +← chosen$/m);
  expect(explained.decisions.map(({ sizeClass }) => sizeClass)).toEqual([1, 2]);
});

test("without a decision it shows the reason, and an unknown execution causes an error", async () => {
  const failed = farm.invocations.find(({ detail }) => detail.id === "failed-one");
  const id = failed?.actions.find(({ executionId }) => executionId !== null)?.executionId ?? "";
  const missing = sizedExecution.replace(/a$/, "b");

  expect(await lines("size-class", "explain", id)).toMatch(
    /^Nothing was chosen: only one size class/,
  );
  const refused = await runGrange(["size-class", "explain", missing, ...at()]);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain(`there is no execution ${missing}`);
});

test("a graph's job means the execution of its latest run", async () => {
  const graph = [...farm.graphs.values()].find(({ jobList }) =>
    jobList.some(({ cached, state }) => !cached && state === "succeeded"),
  );
  const job = graph?.jobList.find(({ cached, state }) => !cached && state === "succeeded");
  const asked = ["size-class", "explain", graph?.id ?? ""];

  const ofJob = await runGrange([...asked, job?.name ?? "", ...at()]);
  const ofNone = await runGrange([...asked, "no-such-job", ...at()]);

  // The fake farm has an execution with this name, and no data about its size.
  expect(ofJob.stderr).toContain(`x-${graph?.id}-${job?.name}-`);
  expect(ofNone.stderr).toContain("no-such-job");
});

test("a wrong argument of a subcommand leads to the help of this subcommand", async () => {
  const refused = await runGrange(["size-class", "declare", "--class", "4", ...at()]);

  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("Try: grange size-class declare --help");
});

test("classes are listed with load, cost and saving", async () => {
  const text = await lines("size-classes");

  expect(text).toMatch(/^ISA=x86-64, OSFamily=linux\n/);
  expect(text).toMatch(/^ {2}2 +2 +3\.73 GiB +2\.00 +3 +12 of 12 +41 +42\.0 s +23 % /m);
  expect(text).toContain("saved about 12,010 (estimated, 5,518 executions; 152 are not counted");
  expect(SizeClasses.parse(await json("size-classes")).platforms).toHaveLength(2);
});

test("keys are listed by cost, and one key shows its runs", async () => {
  const keys = SizeClassKeys.parse(await json("size-class", "keys", "unit_1", "--limit", "3"));
  const text = await lines("size-class", "key", "a:made-up-0");
  const key = SizeClassKeyDetail.parse(await json("size-class", "key", "a:made-up-0"));

  expect(keys.keys.map((each) => each.key)).toEqual([
    "a:made-up-1",
    "a:made-up-10",
    "a:made-up-11",
  ]);
  expect(text).toMatch(/^1 +14 +10 +0 +1 +3 /m);
  expect(text).toContain("The latest decision:");
  expect(key.classes).toHaveLength(3);
});

test("settings are shown, and changed one by one", async () => {
  expect(await lines("size-class", "settings")).toContain("All settings have their default values");
  const now = SizeClassSettingsNow.parse(
    await json("size-class", "settings", "--set", "price-of-delay=2", "--set", "failureBoostMs=2h"),
  );
  const wrong = await runGrange(["size-class", "settings", "--set", "moon=full", ...at()]);

  expect(now.settings).toMatchObject({ priceOfDelay: 2, failureBoostMs: 7_200_000 });
  expect(await lines("size-class", "settings")).toMatch(/^priceOfDelay +2 +usually 1$/m);
  expect(wrong.stderr).toContain('there is no setting "moon"');
});
