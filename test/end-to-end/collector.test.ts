import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { Series } from "#api/benchmark-history.ts";
import { RequestDetail, SubmittedRequest } from "#api/benchmark-request.ts";
import { Collectors, type CollectorView } from "#api/collector.ts";
import { caseKey } from "#core/test-case.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import type { Program } from "../support/process.ts";
import { grangeJson, runGrange, startGrange } from "../support/run-grange.ts";

const target = `${process.platform}-${process.arch}`;

/**
 * Two benchmarks of a "compiler": it prints a figure, records its run in a file, and may have to wait for another file.
 */
const suite = {
  suite: "tiny",
  artifacts: { from: "nowhere" },
  backends: { sh: { tool: ["{artifact}/compile"] } },
  targets: { [target]: {} },
  metrics: {
    nodes: { take: { from: "output", pattern: "^nodes: (\\d+)" }, nature: "exact", unit: "count" },
  },
  headline: "nodes",
  compile: {
    command: ["{tool}"],
    profiles: { check: {} },
    benchmarks: { one: { args: ["one"], set: 0 }, two: { args: ["two"], set: 0 } },
  },
  iterations: { timed: 1 },
};

const SpooledResult = z.object({ test: z.object({ case: z.object({ benchmark: z.string() }) }) });

/** Long enough for a heartbeat on a busy machine; one test waits until it expires. */
const leaseMs = 8_000;

let farm: Farm;
let home: string;
let runs: string;

beforeAll(async () => {
  farm = await startFarm({ workers: 0, env: { GRANGE_BENCHMARK_LEASE_MS: String(leaseMs) } });
  home = await mkdtemp(join(tmpdir(), "grange-lab-"));
  runs = join(home, "runs");
  const pushed = await fetch(`${farm.url}/api/v1/benchmarks/suites/tiny`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ definition: suite }),
  });
  if (!pushed.ok) throw new Error(await pushed.text());
  await grangeJson(["collector", "add", "lab-1", "--target", target, ...at()]);
});
afterAll(async () => {
  await farm.stop();
  await rm(home, { recursive: true, force: true });
});

const at = () => ["--server", farm.url];

/** Requests a version of the compiler; `waitsFor` is a file that must exist before the program ends. */
async function ask(artifact: string, nodes: number, waitsFor?: { two: string }): Promise<string> {
  const folder = join(home, artifact);
  await mkdir(join(folder, "package"), { recursive: true });
  const waits = waitsFor ? `[ $1 = one ] || until [ -e ${waitsFor.two} ]; do sleep 0.02; done` : "";
  const script = `#!/bin/sh\necho ${artifact} $1 >> ${runs}\n${waits}\necho nodes: ${nodes}\n`;
  await writeFile(join(folder, "package", "compile"), script);
  await chmod(join(folder, "package", "compile"), 0o755);
  const tarball = join(home, `${artifact}.tgz`);
  await promisify(execFile)("tar", ["-czf", tarball, "-C", folder, "package"]);
  const words = ["request", artifact, "--suite", "tiny", "--tarball", `sh=${tarball}`];
  const asked = await grangeJson(["bench", ...words, "--kind", "release", ...at()]);
  return SubmittedRequest.parse(asked).request.id;
}

function collect(name: string, more: readonly string[] = ["--no-self-test"]): Program {
  const dataDir = join(home, name);
  const options = ["--flag-load", ...more, "--sandbox", "none"];
  const program = startGrange(
    ["collector", "run", name, "--data-dir", dataDir, ...options, ...at()],
    { env: { GRANGE_MEASURING_LOCK: join(home, "measuring.lock") } },
  );
  onTestFinished(async () => {
    program.signal("SIGKILL");
    await program.finished;
  });
  return program;
}

async function collectors(): Promise<CollectorView[]> {
  return Collectors.parse(await grangeJson(["collector", ...at()])).collectors;
}

async function request(id: string): Promise<RequestDetail> {
  return RequestDetail.parse(await grangeJson(["bench", "show", id, ...at()]));
}

async function until<T>(look: () => Promise<T>, reached: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await look();
    if (reached(value)) return value;
    await wait(100);
  }
}

/** Polls the API: a repeated command would take CPU time from the measurement. */
async function completed(id: string): Promise<RequestDetail> {
  await until(
    async () => {
      const answer = await fetch(`${farm.url}/api/v1/benchmarks/requests/${id}`);
      return RequestDetail.parse(await answer.json());
    },
    ({ endedAt }) => endedAt !== null,
  );
  return request(id);
}

const ranOf = async (artifact: string) =>
  (await readFile(runs, "utf8").catch(() => ""))
    .split("\n")
    .filter((line) => line.startsWith(`${artifact} `));

/** Returns the stored figures of a benchmark of an artifact, and the collector that measured it. */
async function stored(artifact: string, benchmark: string) {
  const words = { section: "compile" as const, profile: "check", scenario: "" };
  const key = caseKey({ ...words, benchmark, backend: "sh", target });
  const query = new URLSearchParams({ suite: "tiny", case: key, metric: "nodes", kind: "release" });
  const answer = await fetch(`${farm.url}/api/v1/benchmarks/series?${query.toString()}`);
  const { points } = Series.parse(await answer.json());
  const found = points.find((point) => point.artifact === artifact);
  return found && { value: found.value, collector: found.collector };
}

/** Returns the benchmarks whose results a collector keeps on disk, because the server does not have them yet. */
async function spooledBenchmarks(collector: string): Promise<string[]> {
  const spool = join(home, collector, "spool");
  const names = (await readdir(spool)).filter((name) => name.endsWith(".json"));
  const kept = await Promise.all(names.map((name) => readFile(join(spool, name), "utf8")));
  return kept.map((text) => SpooledResult.parse(JSON.parse(text)).test.case.benchmark);
}

test("a registered machine measures requests, and ends with success after SIGTERM", async () => {
  expect(await collectors()).toMatchObject([{ name: "lab-1", state: "never-seen", set: null }]);
  const collector = collect("lab-1");
  const id = await ask("1.0", 10);

  const ended = await completed(id);

  expect(ended).toMatchObject({ state: "completed", errors: 0, jobs: { total: 1, failed: 0 } });
  expect(await stored("1.0", "one")).toEqual({ value: 10, collector: "lab-1" });
  expect(await stored("1.0", "two")).toEqual({ value: 10, collector: "lab-1" });
  expect(await ranOf("1.0")).toEqual(["1.0 one", "1.0 two"]);
  expect(await collectors()).toMatchObject([{ state: "waiting" }]);

  collector.signal("SIGTERM");
  expect((await collector.finished).code).toBe(0);
});

test("a collector of a suite with only exact figures tests itself, stays active and continues to measure", async () => {
  const collector = collect("lab-1", ["--comparisons", "2"]);
  await completed(await ask("1.1", 11));

  const [tested] = await until(collectors, ([first]) => (first?.selfTest ?? null) !== null);
  expect(tested).toMatchObject({
    outOfDuty: null,
    selfTest: { passed: true, alarms: 0, comparisons: 2 },
  });
  expect(await completed(await ask("1.2", 12))).toMatchObject({ state: "completed" });
  expect(await stored("1.2", "two")).toEqual({ value: 12, collector: "lab-1" });
  collector.signal("SIGTERM");
  expect((await collector.finished).code).toBe(0);
});

test("after a kill during a job, it continues the job and repeats no measurement", async () => {
  const go = join(home, "go-2");
  const id = await ask("2.0", 20, { two: go });
  const first = collect("lab-1");
  await until(
    () => ranOf("2.0"),
    ({ length }) => length === 2,
  );
  await until(
    () => stored("2.0", "one"),
    (value) => value !== undefined,
  );

  first.signal("SIGKILL");
  await first.finished;
  collect("lab-1");
  await until(
    () => ranOf("2.0"),
    ({ length }) => length === 3,
  );
  await writeFile(go, "");

  expect(await completed(id)).toMatchObject({ state: "completed", errors: 0 });
  expect((await request(id)).jobList).toMatchObject([{ attempts: 2, collector: "lab-1" }]);
  expect(await ranOf("2.0")).toEqual(["2.0 one", "2.0 two", "2.0 two"]);
});

test("after a kill without a server, too, the next process reports the measurements", async () => {
  const go = join(home, "go-5");
  const id = await ask("5.0", 50, { two: go });
  const first = collect("lab-1");
  await until(
    () => ranOf("5.0"),
    ({ length }) => length === 2,
  );
  farm.server.signal("SIGKILL");
  await farm.server.finished;
  await writeFile(go, "");
  // The result of "one" may still be there too: the server may have been killed before it received that.
  await until(
    () => spooledBenchmarks("lab-1"),
    (names) => names.includes("two"),
  );

  first.signal("SIGKILL");
  await first.finished;
  await farm.restartServer();
  collect("lab-1");

  expect(await completed(id)).toMatchObject({ state: "completed", errors: 0 });
  expect(await stored("5.0", "two")).toEqual({ value: 50, collector: "lab-1" });
  expect(await ranOf("5.0")).toEqual(["5.0 one", "5.0 two"]);
});

test("after SIGTERM during a job, it returns the job, and no attempt is counted", async () => {
  const go = join(home, "go-3");
  const id = await ask("3.0", 30, { two: go });
  const first = collect("lab-1");
  await until(
    () => ranOf("3.0"),
    ({ length }) => length === 2,
  );

  // Twice: the collector then does not wait for the end of the test.
  first.signal("SIGTERM");
  await first.note((line) => line.includes("stopping"));
  first.signal("SIGTERM");
  expect((await first.finished).code).toBe(0);

  expect(await request(id)).toMatchObject({ jobList: [{ state: "queued", attempts: 0 }] });
  await writeFile(go, "");
  collect("lab-1");
  expect(await completed(id)).toMatchObject({ state: "completed" });
});

test("a collector with permission to take over does the work of a silent one", async () => {
  await grangeJson(["collector", "set", "lab-1", "--set", "0", ...at()]);
  const name = ["lab-2", "--target", target, "--set", "1", "--take-over", "0"];
  await grangeJson(["collector", "add", ...name, ...at()]);
  const go = join(home, "go-4");
  const id = await ask("4.0", 40, { two: go });
  const first = collect("lab-1");
  await until(
    () => stored("4.0", "one"),
    (value) => value !== undefined,
  );
  collect("lab-2");

  first.signal("SIGKILL");
  await writeFile(go, "");

  // Its lease has to expire first.
  expect(await completed(id)).toMatchObject({ state: "completed", errors: 0 });
  expect(await stored("4.0", "one")).toEqual({ value: 40, collector: "lab-1" });
  expect(await stored("4.0", "two")).toEqual({ value: 40, collector: "lab-2" });
  expect(await collectors()).toMatchObject([{ state: "offline" }, { state: "waiting" }]);
});

test("an impossible request causes a one-sentence error", async () => {
  const unknown = await runGrange([
    "collector",
    "run",
    "nobody",
    "--data-dir",
    join(home, "x"),
    ...at(),
  ]);
  expect(unknown.code).toBe(1);
  expect(unknown.stderr).toContain('there is no collector \\"nobody\\"');

  const both = ["--refuse-load", "--flag-load"];
  expect(await runGrange(["collector", "run", "lab-1", ...both, ...at()])).toMatchObject({
    code: 2,
  });
  expect(await runGrange(["collector", "set", "lab-1", ...at()])).toMatchObject({ code: 2 });
  const again = await runGrange(["collector", "add", "lab-1", "--target", target, ...at()]);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("already") });
});
