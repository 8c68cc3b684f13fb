import { expect, test } from "vitest";
import type { TestCase } from "#core/test-case.ts";
import { findSeriesCase } from "./find-series-case.ts";

const testCase = (benchmark: string, backend: string): TestCase => ({
  section: "compile",
  benchmark,
  profile: "check",
  scenario: "",
  backend,
  target: "linux-x64",
});
const measured = async () => [
  testCase("rxjs", "js"),
  testCase("rxjs", "native"),
  testCase("zod", "js"),
];

test.each([
  { words: ["zod"], found: testCase("zod", "js") },
  { words: ["native", "rxjs"], found: testCase("rxjs", "native") },
  { words: ["rxjs check", "js"], found: testCase("rxjs", "js") },
])("$words name one case alone", async ({ words, found }) => {
  expect(await findSeriesCase(words, measured)).toEqual(found);
});

test("a part of a word will do where no word fits wholly", async () => {
  const imported = async () => [testCase("BenchmarkFib10-8", "imported"), testCase("fib", "js")];

  expect(await findSeriesCase(["fib10"], imported)).toEqual(
    testCase("BenchmarkFib10-8", "imported"),
  );
  expect(await findSeriesCase(["fib"], imported)).toEqual(testCase("fib", "js"));
});

test("all six words name a case whoever measured it", async () => {
  const nobody = () => Promise.reject(new Error("nobody asks"));

  expect(await findSeriesCase(["compile rxjs check - js linux-x64"], nobody)).toEqual(
    testCase("rxjs", "js"),
  );
});

test("words that fit several, or none, are told", async () => {
  await expect(findSeriesCase(["rxjs"], measured)).rejects.toThrow(
    "2 cases match; write more words:\n  compile rxjs check - js linux-x64\n  compile rxjs check - native linux-x64",
  );
  await expect(findSeriesCase(["vite"], measured)).rejects.toThrow(
    '"vite" matches no case with recent figures\nthe cases are:\n  compile rxjs check - js linux-x64',
  );
});
