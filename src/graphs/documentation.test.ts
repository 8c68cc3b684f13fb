import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { definitionsFrom } from "#definitions/definitions-from.fixture.ts";
import { jobKeys } from "#definitions/job-definition.ts";
import { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import { plan } from "./plan.ts";

const text = readFileSync(join(import.meta.dirname, "../../docs/definitions.md"), "utf8");
const examples = [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, example = ""]) => example);

const evaluator = new TemplateEvaluator();
afterAll(() => evaluator.stop());

test.each(examples)("an example in the documentation can be planned: %#", async (example) => {
  const { catalog } = await plan(await definitionsFrom(evaluator, example));

  expect(catalog.entries.length).toBeGreaterThan(0);
});

test("the documentation has examples, and mentions every key of a job", () => {
  expect(examples.length).toBeGreaterThan(3);
  expect(jobKeys.filter((key) => !text.includes(`\`${key}\``))).toEqual([]);
});
