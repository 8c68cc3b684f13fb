import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import { definitionsFrom } from "#definitions/definitions-from.fixture.ts";
import { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import { plan } from "../plan.ts";
import { chooseFoundInputs } from "./choose-found-inputs.ts";
import { readInputList } from "./read-input-list.ts";

const files = ["Makefile", "app/[id].ts", "app/i.ts", "src/a.ml", "src/deep/b.ml", "srcs/c.ml"];

function chosen(list: string | Uint8Array, mayRead = ["src", "app"], inputs?: string[]) {
  const bytes = typeof list === "string" ? Buffer.from(list) : list;
  const entries = files.map((path) => ({ path }));
  const read = readInputList(bytes, "the list");
  return chooseFoundInputs(entries, { inputs, mayRead }, read, "the list").map(({ path }) => path);
}

function outcomeOf(list: string): string {
  try {
    const stray = chosen(list).find((path) => !/^(src|app)\//.test(path));
    return stray ?? "as it may be";
  } catch (reason) {
    const isSaid =
      reason instanceof Fault &&
      reason.code === "failed_precondition" &&
      reason.message.startsWith("the list");
    return isSaid ? "as it may be" : String(reason);
  }
}

describe("a list of inputs", () => {
  test.each([
    { list: "src/a.ml\r\n\n./src/deep/\n", found: ["src/a.ml", "src/deep/b.ml"] },
    { list: "src", found: ["src/a.ml", "src/deep/b.ml"] },
    { list: "**/*.ml", found: ["src/a.ml", "src/deep/b.ml"] },
    { list: "app/[id].ts", found: ["app/[id].ts"] },
    { list: "app/[i].ts", found: ["app/i.ts"] },
    { list: "none*", found: [] },
    { list: "", found: [] },
  ])("$list means $found", ({ list, found }) => {
    expect(chosen(list)).toEqual(found);
  });

  test("is added to the files that are always read", () => {
    expect(chosen("src/a.ml", ["src"], ["Makefile"])).toEqual(["Makefile", "src/a.ml"]);
  });

  test.each([
    { list: "Makefile", says: /names "Makefile", which is outside of the allowed files/ },
    { list: "src/z.ml", says: /names "src\/z.ml", which is not in the commit/ },
    { list: "src/a.ml\nsrc/../x", says: /line 2: "src\/..\/x" has the name "\.\."/ },
    { list: "{a", says: /the list: the pattern "\{a"/ },
    { list: Uint8Array.of(255, 254), says: /not text in UTF-8/ },
    { list: "a*\n".repeat(3) + "b*\0", says: /has a NUL/ },
    { list: Array.from({ length: 100_001 }, (_, i) => `f${i}`).join("\n"), says: /100,000 paths/ },
  ])("is refused: $says", ({ list, says }) => {
    expect(() => chosen(list)).toThrow(says);
  });

  test("for any content, it gives files that may be found, or a fault that names the list", () => {
    const line = fc.oneof(fc.string(), fc.constantFrom(...files, "src/**", "../x", "!src", "a\\"));
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        expect(outcomeOf(lines.join("\n"))).toBe("as it may be");
      }),
    );
  });

  test("with 100,000 names takes a short time", () => {
    const entries = Array.from({ length: 100_000 }, (_, i) => ({ path: `src/${i % 100}/${i}` }));
    const list = Buffer.from(entries.map(({ path }) => path).join("\n"));
    const began = process.cpuUsage();

    const read = readInputList(list, "the list");
    const found = chooseFoundInputs(entries, { mayRead: ["src/**"] }, read, "the list");

    expect(found).toHaveLength(100_000);
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(5_000);
  });
});

describe("definitions", () => {
  const evaluator = new TemplateEvaluator();
  afterAll(() => evaluator.stop());
  const planned = async (jobs: string) =>
    plan(await definitionsFrom(evaluator, `version: 1\njobs:\n${jobs}`));
  const scan = "  scan: {commands: s, outputs: list}\n";
  const from = "inputs-from: {job: scan, output: list}";

  test("add one edge to the job that finds the inputs", async () => {
    const { edges } = await planned(
      `${scan}  a: {commands: x, ${from}, may-read: [src]}\n  b: {commands: x, ${from}, may-read: [src], needs: [scan]}`,
    );

    expect(edges.map(({ job, on, condition }) => [job, on, condition])).toEqual([
      ["a", "scan", "success"],
      ["b", "scan", "success"],
    ]);
  });

  test("that select a job also select its finder", async () => {
    const jobs = `${scan}  a: {commands: x, ${from}, may-read: [src]}\n  c: {commands: y}`;
    const read = await definitionsFrom(evaluator, `version: 1\njobs:\n${jobs}`);

    expect((await plan(read, "name:a")).catalog.entries.map(({ name }) => name)).toEqual([
      "a",
      "scan",
    ]);
  });

  test.each([
    { job: `${from}`, says: /"inputs-from" needs "may-read"/ },
    { job: `${from}, may-read: []`, says: /"inputs-from" needs "may-read"/ },
    { job: "may-read: [src]", says: /"may-read" bounds what "inputs-from" finds/ },
    { job: "inputs-from: {job: scn, output: list}, may-read: [s]", says: /did you mean "scan"/ },
    { job: "inputs-from: {job: scan, output: other}, may-read: [s]", says: /its outputs are list/ },
    {
      job: "inputs-from: {job: a, output: list}, may-read: [s], outputs: list",
      says: /needs itself/,
    },
    {
      job: `${from}, may-read: [s], needs: {scan: {on: end}}`,
      says: /neither "optional" nor "on"/,
    },
    { job: `${from}, may-read: [s], outside: true`, says: /given no inputs/ },
  ])("are refused where $says", async ({ job, says }) => {
    await expect(planned(`${scan}  a: {commands: x, ${job}}`)).rejects.toThrow(says);
  });
});
