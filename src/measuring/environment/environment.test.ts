import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { openWorkshop } from "../measuring.fixture.ts";
import { adviceFor } from "./advice.ts";
import { readCpuTime } from "./cpu-time.ts";
import { environmentFacts, fingerprintOf } from "./facts.ts";
import { judgeLoad, sampleLoad } from "./load.ts";
import { warningsOf, watchNeighbours } from "./neighbours.ts";

test("facts are stable, and any different fact changes the fingerprint", async () => {
  const shop = await openWorkshop();
  try {
    const facts = environmentFacts(shop.place.tools);
    const again = environmentFacts(shop.place.tools);

    expect(again).toEqual(facts);
    expect(fingerprintOf(again)).toMatch(/^[0-9a-f]{64}$/);
    expect(fingerprintOf(Object.fromEntries(Object.entries(facts).reverse()))).toBe(
      fingerprintOf(facts),
    );
    for (const name of Object.keys(facts)) {
      expect(fingerprintOf({ ...facts, [name]: "other" })).not.toBe(fingerprintOf(facts));
    }
    expect(Object.values(facts).every((value) => value !== "")).toBe(true);
  } finally {
    await shop.close();
  }
});

test("reads CPU times from /proc/stat", () => {
  const stat = "cpu  1000 100 200 90000 500 10 20 300 40 0\ncpu0 1 1 1 1\n";
  expect(readCpuTime(stat)).toEqual({ busy: 13.3, stolen: 3 });
});

test.each([
  ["a quiet machine", { others: 0.1, stolen: 0, averagePerCpu: 0.3 }, "quiet"],
  ["a neighbour", { others: 0.9, stolen: 0, averagePerCpu: 0.3 }, "flag"],
  ["other machines", { others: 0, stolen: 0.5, averagePerCpu: 0.3 }, "flag"],
  ["many that wait", { others: 0, stolen: 0, averagePerCpu: 3 }, "flag"],
])("%s", (_, load, kind) => {
  expect(judgeLoad(load, "flag").kind).toBe(kind);
  expect(judgeLoad(load, "refuse").kind).toBe(kind === "flag" ? "refuse" : kind);
});

const calm = { seconds: 1, others: 0, stolen: 0, slowest: 3_000, fastest: 3_100, throttled: 0 };
test.each([
  ["nothing", calm, []],
  ["a neighbour", { ...calm, others: 0.8 }, ["other processes kept 0.8 CPUs busy meanwhile"]],
  ["little in a short time", { ...calm, seconds: 0.1, others: 0.04 }, []],
  ["the hypervisor", { ...calm, stolen: 0.5 }, ["the hypervisor took 0.5 CPUs away meanwhile"]],
  ["a clock", { ...calm, slowest: 1_000 }, ["the clock went between 1000 and 3100 MHz"]],
  ["heat", { ...calm, throttled: 2 }, ["a CPU was slowed down because it was hot"]],
  ["no clock to be read", { ...calm, slowest: undefined, fastest: undefined }, []],
])("warns of %s", (_, meanwhile, warnings) => {
  expect(warningsOf(meanwhile)).toEqual(warnings);
});

test("counts the work of other processes and not its own", async () => {
  const spin = "const end = Date.now() + 600; while (Date.now() < end);";
  const run = (detached: boolean) =>
    new Promise<void>((resolve) => {
      // Detached by a shell that ends at once: the kernel does not count its CPU time as this process's.
      const child = detached
        ? spawn("sh", ["-c", '"$0" -e "$1" & ', process.execPath, spin], { stdio: "ignore" })
        : spawn(process.execPath, ["-e", spin], { stdio: "ignore" });
      child.once("exit", () => resolve());
    });

  const ours = watchNeighbours();
  await run(false);
  const withOurs = ours.end();
  const theirs = watchNeighbours();
  await run(true);
  await new Promise((resolve) => setTimeout(resolve, 650));
  const withTheirs = theirs.end();

  // The machine has other work, too, so the test checks only the difference.
  expect(withTheirs.others).toBeGreaterThan(0.2);
  expect(withOurs.others).toBeGreaterThanOrEqual(-0.1);
  expect((await sampleLoad(50)).others).toBeGreaterThanOrEqual(0);
});

test("gives advice for each problem, and none for a good machine", () => {
  const good = {
    counter: "perf version 6.1",
    hypervisor: "none",
    governor: "performance",
    turbo: "off",
    smt: "off",
    aslr: "2",
    "fixed-addresses": "yes",
    sandbox: "bubblewrap",
  };
  expect(adviceFor(good, [])).toEqual([]);
  const bad = { ...good, counter: "none", governor: "powersave", turbo: "on", smt: "on" };
  expect(adviceFor(bad, []).map(({ about }) => about)).toEqual([
    "counter",
    "governor",
    "turbo",
    "smt",
  ]);
  expect(adviceFor(good, ["memory is not measured"])).toHaveLength(1);
});
