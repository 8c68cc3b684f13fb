import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseSuite } from "./read-suite.ts";
import { Benchmark, MetricSource, Suite, SuiteSection } from "./suite.ts";
import { readSuiteText } from "./suite-yaml.ts";

const text = readFileSync(join(import.meta.dirname, "../../docs/benchmarks.md"), "utf8");
const examples = [...text.matchAll(/```yaml\n(.*?)```/gs)]
  .map(([, example = ""]) => example)
  .filter((example) => /^suite:/m.test(example));

test.each(examples)("a suite in the documentation is valid: %#", (example) => {
  const { value, place } = readSuiteText("docs/benchmarks.md", example);

  expect(parseSuite(value, "docs/benchmarks.md", place).suite).not.toBe("");
});

test("the documentation has examples, and mentions every key", () => {
  const keys = [Suite, SuiteSection, Benchmark].flatMap((schema) => Object.keys(schema.shape));
  const sources = MetricSource.options.map(({ shape }) => shape.from.value);

  expect(examples.length).toBeGreaterThan(1);
  expect([...keys, ...sources].filter((key) => !text.includes(`\`${key}\``))).toEqual([]);
});
