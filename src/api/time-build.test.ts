import { expect, test } from "vitest";
import type { InvocationAction } from "./invocation.ts";
import { buildTiming } from "./time-build.ts";
import { traceOfBuild } from "./trace-build.ts";

const begin = Date.UTC(2030, 0, 1);
const at = (seconds: number) => new Date(begin + seconds * 1_000).toISOString();

/** An action that was requested, began and ended at these seconds. */
function action(
  target: string,
  [requested, started, finished]: readonly [number, number, number],
  changes: Partial<InvocationAction> = {},
): InvocationAction {
  return {
    actionDigest: `${"a".repeat(64)}/1`,
    target,
    mnemonic: "CppCompile",
    configuration: "",
    state: "succeeded",
    executionId: `00000000-0000-4000-8000-0000000000${String(requested + 10).padStart(2, "0")}`,
    joined: false,
    requestedAt: at(requested),
    startedAt: at(started),
    finishedAt: at(finished),
    worker: "barn-1",
    outcome: "succeeded",
    exitCode: 0,
    ...changes,
  };
}

const hit = action("//hit", [0, 0, 0], {
  state: "hit",
  executionId: null,
  startedAt: null,
  finishedAt: null,
  worker: null,
});
const compiled = action("//a", [0, 1, 4]);
const short = action("//b", [0, 1, 2], { worker: "barn-2" });
const linked = action("//app", [5, 6, 8], { mnemonic: "CppLink", state: "failed" });
const build = [hit, compiled, short, linked];

test("times are summed by mnemonic and by worker, those with the longest time first", () => {
  const { mnemonics, wallMs, workers } = buildTiming(build, false);

  expect(wallMs).toBe(8_000);
  expect(mnemonics).toEqual([
    {
      mnemonic: "CppCompile",
      cached: 1,
      executed: 2,
      failed: 0,
      waitedMs: 2_000,
      ranMs: 4_000,
      longestMs: 3_000,
    },
    {
      mnemonic: "CppLink",
      cached: 0,
      executed: 1,
      failed: 1,
      waitedMs: 1_000,
      ranMs: 2_000,
      longestMs: 2_000,
    },
  ]);
  expect(workers).toEqual([
    { worker: "barn-1", executed: 2, ranMs: 5_000 },
    { worker: "barn-2", executed: 1, ranMs: 1_000 },
  ]);
});

test("the chain goes back from the last end to what ended last before each request", () => {
  const { chain } = buildTiming(build, false);

  expect(chain).toMatchObject([
    { target: "//a", toolMs: 0, waitedMs: 1_000, ranMs: 3_000 },
    { target: "//app", toolMs: 1_000, waitedMs: 1_000, ranMs: 2_000 },
  ]);
});

test("a build without executed actions has no chain, and one of many actions has its last hundred steps", () => {
  expect(buildTiming([hit], false)).toMatchObject({ chain: [], chainLength: 0, wallMs: 0 });
  expect(buildTiming([], false)).toMatchObject({ mnemonics: [], wallMs: 0 });

  const steps = Array.from({ length: 150 }, (_, n) => action(`//${n}`, [n, n, n + 1]));
  const { chain, chainLength } = buildTiming(steps, false);
  expect([chain.length, chainLength, chain.at(-1)?.target]).toEqual([100, 150, "//149"]);
});

test("an action whose times are not in order, or partly unknown, has no negative time", () => {
  const joined = action("//late", [5, 1, 4]);
  const deleted = action("//old", [1, 1, 3], { startedAt: null });

  for (const { waitedMs, ranMs } of buildTiming([joined, deleted], false).mnemonics)
    expect([waitedMs, ranMs]).toEqual([0, 2_000]);
});

test("in the trace, actions of one worker that overlap have different rows, and others share one", () => {
  const overlapping = action("//c", [0, 2, 3]);
  const { traceEvents } = traceOfBuild("i", [...build, overlapping]);
  const rowOf = (name: string) => {
    const event = traceEvents.find((each) => each.name === name && each.pid === 1);
    const row = traceEvents.find(({ ph, tid }) => ph === "M" && tid === event?.tid);
    return row?.args?.["name"];
  };

  expect(["//a", "//app", "//b", "//c"].map(rowOf)).toEqual([
    "barn-1",
    "barn-1",
    "barn-2",
    "barn-1 (2)",
  ]);
  const ran = traceEvents.find(({ name, pid }) => name === "//a" && pid === 1);
  expect(ran).toMatchObject({ ph: "X", ts: (begin + 1_000) * 1_000, dur: 3_000_000 });
  expect(traceEvents.filter(({ ph }) => ph === "i").map(({ name }) => name)).toEqual(["//hit"]);
});
