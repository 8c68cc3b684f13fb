import { afterAll, describe, expect, test } from "vitest";
import { DefinitionProblems } from "#definitions/definition-problems.ts";
import { definitionsFrom } from "#definitions/definitions-from.fixture.ts";
import { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import { plan } from "./plan.ts";

const evaluator = new TemplateEvaluator();
afterAll(() => evaluator.stop());

async function problemsOf(job: string): Promise<string[]> {
  const text = `version: 1\njobs:\n  test:\n    commands: make test\n${job.replace(/^/gm, "    ")}\n`;
  const reason: unknown = await definitionsFrom(evaluator, text)
    .then(plan)
    .then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
  if (reason === undefined) return [];
  if (!(reason instanceof DefinitionProblems)) throw reason;
  return reason.problems.map(({ line, message }) => `${line}: ${message}`);
}

test("rules are parsed as they were written", async () => {
  const { jobs } = await definitionsFrom(
    evaluator,
    `version: 1
jobs:
  test:
    commands: make test
    retries: 2
    success:
      patterns: ^ALL TESTS PASSED$
      numbers:
        coverage: { pattern: '^coverage: ([0-9.]+)%', min: 80 }
    failure:
      crash: { patterns: [Segmentation fault, AddressSanitizer], retry: false }
      network: { patterns: ECONNRESET, exit-codes: [75], retry: true }
    errors: ["error:", "^FAILED "]
`,
  );

  expect(jobs[0]?.definition).toEqual({
    commands: ["make test"],
    retries: 2,
    success: {
      patterns: ["^ALL TESTS PASSED$"],
      numbers: { coverage: { pattern: "^coverage: ([0-9.]+)%", min: 80 } },
    },
    failure: {
      crash: { patterns: ["Segmentation fault", "AddressSanitizer"], retry: false },
      network: { patterns: ["ECONNRESET"], "exit-codes": [75], retry: true },
    },
    errors: ["error:", "^FAILED "],
  });
});

describe("invalid rules are reported with their line", () => {
  test.each([
    {
      job: 'errors:\n  - "fine"\n  - "(a)\\\\1"',
      problem:
        /^\d+: job "test": errors: the pattern "\(a\)\\\\1" cannot be used: \\1 is a back reference/,
    },
    {
      job: 'success:\n  numbers:\n    coverage: { pattern: "^coverage" }',
      problem: /^7: .*needs a group \( \) around the number/,
    },
    {
      job: 'success:\n  numbers:\n    coverage: { pattern: "(.*)", min: 2, max: 1 }',
      problem: /^7: .*no number is at least 2 and at most 1/,
    },
    {
      job: 'success:\n  numbers:\n    coverage: { pattern: "(.*)", minimum: 2 }',
      problem: /^7: .*there is no key "minimum" here/,
    },
    { job: "success: { pattern: [a] }", problem: /did you mean "patterns"/ },
    { job: "failure:\n  crash: { retry: false }", problem: /^6: .*a class needs patterns/ },
    {
      job: "failure:\n  network: { exit-codes: [75], retry: true }",
      problem: /^6: .*nothing is retried without "retries"/,
    },
    {
      job: "failure:\n  odd: { exit-codes: [3, 0] }",
      problem: /^6: .*exit code 0 counts as success/,
    },
    {
      job: "failure:\n  timed_out: { exit-codes: [3] }",
      problem: /^6: .*cannot be names of classes/,
    },
    {
      job: `errors: [${Array(20).fill('"a{300}"').join(", ")}]`,
      problem: /too large together/,
    },
    {
      job: 'errors: "((a{1,90}){1,90}){1,90}"',
      problem: /^5: .*its repetitions make it too large/,
    },
  ])("$job", async ({ job, problem }) => {
    expect(await problemsOf(job)).toEqual([expect.stringMatching(problem)]);
  });
});

describe("a job can wait for", () => {
  const waiting = (on: string) => `version: 1
jobs:
  build:
    commands: make
    failure: { crash: { patterns: Segmentation fault } }
  report:
    commands: ./report
    needs:
      build: { on: ${on}, outputs: [] }
`;

  test.each([
    { on: "failure", condition: "failure" },
    { on: "crash", condition: "outcome:crash" },
    { on: "timed_out", condition: "outcome:timed_out" },
  ])("$on", async ({ on, condition }) => {
    const { edges } = await plan(await definitionsFrom(evaluator, waiting(on)));

    expect(edges).toEqual([{ job: "report", on: "build", condition }]);
  });

  test("no class that the other job does not define", async () => {
    const definitions = await definitionsFrom(evaluator, waiting("crsh"));

    await expect(plan(definitions)).rejects.toThrow(
      /jobs.yml:9:\d+: job "report" needs "build" with an impossible end: "crsh" is neither .*did you mean "crash"/,
    );
  });
});
