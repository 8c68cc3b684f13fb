import { expect, test } from "vitest";
import { convertWorkflows } from "./convert-workflows.ts";

/** Converts files of .github/workflows, by name. */
function convert(files: Readonly<Record<string, string>>) {
  return convertWorkflows(
    new Map(Object.entries(files).map(([name, text]) => [`.github/workflows/${name}`, text])),
  );
}

const summary = ({ jobs }: ReturnType<typeof convert>) =>
  jobs.map(({ name, commands, needs }) => [name, commands.at(-1), needs]);
const reasonsOf = ({ leftOut }: ReturnType<typeof convert>) =>
  leftOut.map(({ where, reason }) => `${where}: ${reason}`);

const calling = (job: string) =>
  `on: push\njobs: { a: { uses: ./.github/workflows/b.yml, ${job} } }`;
const called = (inputs: string, command: string) =>
  `on: { workflow_call: { inputs: { ${inputs} } } }\njobs: { t: { steps: [{ run: '${command}' }] } }`;

test("the jobs of a called workflow take the place of the calling job, and wait as it does", () => {
  const converted = convert({
    "ci.yml":
      "on: push\nenv: { OUTER: 1 }\njobs:\n  first: { steps: [{ run: make }] }\n  a: { needs: first, uses: ./.github/workflows/b.yml, secrets: inherit }\n  last: { needs: [a], steps: [{ run: ./last }] }\n",
    "b.yml":
      "on: workflow_call\njobs:\n  x: { steps: [{ run: ./x }] }\n  y: { needs: x, steps: [{ run: ./y }] }\n",
  });

  expect(summary(converted)).toEqual([
    ["ci/first", "make", []],
    ["ci/a/x", "./x", ["ci/first"]],
    ["ci/a/y", "./y", ["ci/a/x"]],
    ["ci/last", "./last", ["ci/a/x", "ci/a/y"]],
  ]);
  // Variables of the calling workflow do not reach the called one.
  expect(converted.jobs[1]?.environment).toEqual({ CI: "true" });
  expect(converted.found).toEqual(["ci.yml: 3 of 3 jobs"]);
  expect(converted.leftOut).toEqual([]);
});

test("inputs have the value of the call, the default, or the empty value of their type", () => {
  const converted = convert({
    "ci.yml": calling("with: { s: x, n: 3 }"),
    "b.yml": called(
      "s: {}, n: { type: number }, d: { default: 7 }, f: { type: boolean }, e: { type: string }",
      "./t ${{ inputs.s }} ${{ inputs.n == 3 }} ${{ inputs.d }} ${{ inputs.f || 1 }} [${{ inputs.e }}]",
    ),
  });

  expect(converted.jobs[0]?.commands).toEqual(["./t x true 7 1 []"]);
});

test("a matrix calls the workflow once for each set of inputs", () => {
  const converted = convert({
    "ci.yml": calling(
      "strategy: { matrix: { v: [1, 2], os: [x, y] } }, with: { v: '${{ matrix.v }}' }",
    ),
    "b.yml": called("v: { type: string }", "./t ${{ inputs.v }}"),
  });

  expect(summary(converted)).toEqual([
    ["ci/a-1/t", "./t 1", []],
    ["ci/a-2/t", "./t 2", []],
  ]);
});

test.each([
  ["a condition that does not hold", "if: false", "", "its condition does not hold"],
  ["a secret as an input", "with: { s: '${{ secrets.S }}' }", "s: {}", "needs secrets.S"],
  ["an input that is missing", "with: {}", "s: { required: true }", "needs the input s"],
  ["an input that is unknown", "with: { z: 1 }", "s: {}", "has no input z"],
  ["a name of every object", "with: { constructor: 1 }", "s: {}", "has no input constructor"],
])("a call with %s is listed with the reason", (_, job, inputs, reason) => {
  const converted = convert({ "ci.yml": calling(job), "b.yml": called(inputs, "make") });

  expect(converted.jobs).toEqual([]);
  expect(reasonsOf(converted).join()).toContain(reason);
});

test.each([
  ["no workflow_call", "on: push\njobs: {}", "has no `workflow_call`"],
  ["no YAML", "on: [", "is no YAML"],
  ["itself as a job", calling("").replace("push", "workflow_call"), "b.yml calls itself"],
])("a called workflow with %s is listed with the reason", (_, text, reason) => {
  const converted = convert({ "ci.yml": calling(""), "b.yml": text });

  expect(converted.jobs).toEqual([]);
  expect(reasonsOf(converted).join()).toContain(reason);
});

test("workflows call each other ten levels deep, as on GitHub, and no deeper", () => {
  const chain = (levels: number) =>
    convert(
      Object.fromEntries(
        Array.from({ length: levels }, (_, level) => [
          `w${level}.yml`,
          `on: ${level === 0 ? "push" : "workflow_call"}\njobs: { a: ${
            level === levels - 1
              ? "{ steps: [{ run: make }] }"
              : `{ uses: ./.github/workflows/w${level + 1}.yml }`
          } }`,
        ]),
      ),
    );

  expect(chain(10).jobs.map(({ name }) => name)).toEqual([`w0${"/a".repeat(10)}`]);
  expect(chain(11).jobs).toEqual([]);
  expect(reasonsOf(chain(11)).join()).toContain("more than 10 levels deep");
});

test("workflows that multiply by their matrices are limited", () => {
  const many = `[${Array.from({ length: 60 }, (_, n) => n).join(", ")}]`;
  const call = (next: string) =>
    `jobs: { a: { strategy: { matrix: { n: ${many} } }, uses: ./.github/workflows/${next}.yml, with: { n: '\${{ matrix.n }}-\${{ inputs.n }}' } } }`;
  const on = "on: { workflow_call: { inputs: { n: {} } } }\n";
  const converted = convert({
    "ci.yml": `on: push\n${call("b")}`,
    "b.yml": on + call("c"),
    "c.yml": on + call("d"),
    "d.yml": called("n: {}", "./t ${{ inputs.n }}"),
  });

  expect(converted.jobs.length).toBeLessThan(1_000);
  expect(reasonsOf(converted).join()).toContain("more than 1000 jobs");
});

test("a reusable workflow of another repository is listed", () => {
  const converted = convert({
    "ci.yml": "on: push\njobs: { a: { uses: me/tool/.github/workflows/b.yml@main } }",
  });

  expect(reasonsOf(converted)).toEqual([
    "ci.yml, job a: it calls the reusable workflow me/tool/.github/workflows/b.yml@main",
  ]);
});
