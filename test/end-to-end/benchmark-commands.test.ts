import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BenchmarkSearchView } from "#api/benchmark-history.ts";
import { RequestDetail, Requests, SubmittedRequest } from "#api/benchmark-request.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import type { Program } from "../support/process.ts";
import { grangeJson, runGrange, startGrange } from "../support/run-grange.ts";
import { type ToyLine, toyLine } from "../support/toy-line.ts";
import { toySuite } from "../support/toy-suite.ts";

/*
 * A new user of the lab has a program in Git and wants the cost of a commit: the test uses only commands, and their
 * output for people.
 */

const target = `${process.platform}-${process.arch}`;
const testCase = `compile add plain full node ${target}`;

/** One step, of 20 %, at the sixth of eight commits. */
const works = [1_000, 1_000, 1_000, 1_000, 1_000, 1_200, 1_200, 1_200];
const stepAt = 5;

let farm: Farm;
let line: ToyLine;
let home: string;
let collector: Program | undefined;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "grange-walk-"));
  [farm, line] = await Promise.all([
    startFarm({ workers: 0 }),
    toyLine(works.map((work) => ({ work, rounds: 1_000 }))),
  ]);
  await mkdir(join(home, ".grange", "bench"), { recursive: true });
});
afterAll(async () => {
  collector?.signal("SIGTERM");
  await collector?.finished;
  await farm.stop();
  await line.remove();
  await rm(home, { recursive: true, force: true });
});

/** Returns the output for people of a command that must succeed. */
async function told(words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runGrange(words, {
    cwd: home,
    env: { GRANGE_SERVER: farm.url },
  });
  expect({ words, code, stderr: code === 0 ? "" : stderr }).toEqual({ words, code: 0, stderr: "" });
  return stdout;
}
const refused = (words: readonly string[]) =>
  runGrange(words, { cwd: home, env: { GRANGE_SERVER: farm.url } });
const json = (words: readonly string[]) =>
  grangeJson(words, { cwd: home, env: { GRANGE_SERVER: farm.url } });

/** A suite's file; JSON is YAML, too. */
async function write(name: string, definition: unknown): Promise<string> {
  const file = join(".grange", "bench", name);
  await writeFile(join(home, file), JSON.stringify(definition, null, 2));
  return file;
}

async function until<T>(look: () => Promise<T>, reached: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await look();
    if (reached(value)) return value;
    await wait(200);
  }
}

/** Polls the API until the result exists, and then shows it with a command. */
const look = async (path: string) =>
  (await fetch(`${farm.url}/api/v1/benchmarks/${path}`)).json() as Promise<unknown>;

async function ended(id: string): Promise<RequestDetail> {
  await until(
    async () => RequestDetail.parse(await look(`requests/${id}`)),
    ({ endedAt }) => endedAt !== null,
  );
  return RequestDetail.parse(await json(["bench", "show", id]));
}

const tag = (index: number): string => line.tags[index] ?? "";

test("a mistake in a suite is reported with file and line, and nothing of it is pushed", {
  // Eight commands one after the other.
  timeout: 120_000,
}, async () => {
  const good = toySuite(line.repository, { name: "toy", target, sets: [["add"]] });
  const file = await write("toy.yml", { ...good, headline: "wrok" });
  const at = (await readFile(join(home, file), "utf8"))
    .split("\n")
    .findIndex((each) => each.includes("wrok"));

  const checked = await refused(["bench", "suite", "check"]);
  const pushed = await refused(["bench", "suite", "push"]);

  expect(checked.code).toBe(1);
  expect(checked.stdout).toContain(`toy.yml:${at + 1}:`);
  expect(checked.stdout).toContain("wrok");
  expect(pushed.code).not.toBe(0);
  expect(pushed.stderr).toContain(`toy.yml:${at + 1}:`);
  expect(await told(["bench", "suite", "list"])).toContain("None");

  await write("toy.yml", good);
  expect(await told(["bench", "suite", "check"])).toContain("1 test cases on each target");
  expect(await told(["bench", "suite", "push"])).toContain("was pushed");
  expect(await told(["bench", "suite", "push"])).toContain("exists already");
  expect(await told(["bench", "suite", "show", "toy"])).toContain("add");
});

test("a request that no collector can serve is accepted, listed, and can be cancelled", async () => {
  const asked = await told(["bench", "request", tag(0), "--suite", "toy"]);
  expect(asked).toContain(tag(0));
  expect(asked).toContain("grange bench status");

  const status = await told(["bench", "status"]);
  expect(status).toContain("There are no collectors yet");
  expect(status).toContain(tag(0));

  expect(await told(["bench", "cancel", "latest"])).toContain("cancelled");
  expect(await told(["bench", "status"])).toContain("The queue is empty");
});

test("a commit is measured with its parents, and its comparison shows the change", async () => {
  expect(await told(["collector", "add", "lab-1", "--target", target])).toContain("lab-1");
  const options = ["--flag-load", "--no-self-test", "--sandbox", "none"];
  collector = startGrange(
    ["collector", "run", "lab-1", "--data-dir", join(home, "lab-1"), ...options],
    { env: { GRANGE_SERVER: farm.url, GRANGE_MEASURING_LOCK: join(home, "measuring.lock") } },
  );

  const { request } = SubmittedRequest.parse(
    await json(["bench", "request", tag(stepAt), "--suite", "toy"]),
  );
  expect((await ended(request.id)).state).toBe("completed");

  const shown = await told(["bench", "show", request.id.slice(0, 8)]);
  expect(shown).toContain(`against ${tag(stepAt - 1)}`);
  expect(shown).toContain(`grange bench report ${request.id.slice(0, 8)}`);
  const { requests } = Requests.parse(await json(["bench", "requests"]));
  expect(requests.map(({ artifact }) => artifact)).toContain(tag(stepAt - 1));
  // Each commit's request includes its parents, back to the commit of the previous request, and they were measured in
  // that order.
  const measured = requests.filter(({ state }) => state === "completed");
  const inOrder = measured.toSorted((a, b) => (a.startedAt ?? "").localeCompare(b.startedAt ?? ""));
  expect(inOrder.map(({ artifact }) => artifact)).toEqual(line.tags.slice(1, stepAt + 1));

  const report = await told(["bench", "report", request.id.slice(0, 8)]);
  expect(report).toContain(`${tag(stepAt - 1)} → ${tag(stepAt)}`);
  expect(report).toMatch(/20\.0+ ?%/);
  const words = ["bench", "compare", tag(stepAt - 1), tag(stepAt), "--suite", "toy"];
  const compared = await told([...words, "--server"]);
  expect(compared).toMatch(/20\.0+ ?%/);
  expect(compared).toContain("add");
  const same = await told(["bench", "compare", tag(0), tag(1), "--suite", "toy", "--server"]);
  expect(same).not.toMatch(/20\.0+ ?%/);
  expect(await told(["collector"])).toContain("waiting");
});

test("the history of a case has its commits, and a bisection finds the commit of the step", async () => {
  const { request } = SubmittedRequest.parse(
    await json(["bench", "request", tag(works.length - 1), "--suite", "toy"]),
  );
  await ended(request.id);

  const history = await told(["bench", "history", "add"]);
  expect(history).toContain(tag(works.length - 1));
  expect(history).toContain("1,200");

  const noise = await told(["bench", "noise", "add"]);
  expect(noise).toMatch(/ work +exact .*any change +every difference counts/);
  expect(noise).toMatch(/ user-time +noisy .*reported from 1\.00 %/);
  expect(noise).toContain("/benchmarks/noise?suite=toy");

  const stretch = ["--suite", "toy", "--from", tag(0), "--to", tag(works.length - 1)];
  const begun = BenchmarkSearchView.parse(await json(["bench", "bisect", testCase, ...stretch]));
  await until(
    async () => BenchmarkSearchView.parse(await look(`searches/${begun.id}`)),
    ({ state }) => state !== "running",
  );
  const over = BenchmarkSearchView.parse(await json(["bench", "searches", begun.id]));
  expect(over.steps).toMatchObject([{ before: tag(stepAt - 1), artifact: tag(stepAt) }]);
  expect(await told(["bench", "searches", begun.id.slice(0, 8)])).toContain(tag(stepAt));

  const known = await told(["bench", "artifacts", "--suite", "toy"]);
  for (const each of line.tags) expect(known).toContain(each);
});

test("results of hyperfine are stored for each commit, and compared", async () => {
  const options = ["--suite", "hyper", "--target", target];
  async function kept(artifact: string, times: readonly number[]): Promise<string> {
    const file = join(home, `${artifact}.json`);
    await writeFile(file, JSON.stringify({ results: [{ command: "sort", times }] }));
    return told(["bench", "import", "hyperfine", file, "--artifact", artifact, ...options]);
  }
  const one = await kept("v1", [1.0, 1.01, 0.99]);
  const two = await kept("v2", [1.5, 1.51, 1.49]);

  expect(one).toContain("1 benchmarks of v1 in hyper");
  expect(two).toContain("3 iterations kept");
  const history = await told(["bench", "history", "sort", "--suite", "hyper"]);
  expect(history).toContain("v1");
  expect(history).toContain("v2");
});

test("an error names the allowed values", async () => {
  const commit = await refused(["bench", "request", "nothing", "--suite", "toy"]);
  expect(commit.code).not.toBe(0);
  expect(commit.stderr).toContain("nothing");
  const suite = await refused(["bench", "request", tag(0), "--suite", "tyo"]);
  expect(suite.code).not.toBe(0);
  expect(suite.stderr).toContain("tyo");
  const within = ["--suite", "toy", "--from", tag(0), "--to", tag(1)];
  const search = await refused(["bench", "bisect", "subtract", ...within]);
  expect(search).toMatchObject({ code: 2, stderr: expect.stringContaining("subtract") });
});
