import { afterAll, describe, expect, test } from "vitest";
import { DefinitionProblems } from "./definition-problems.ts";
import { type DefinitionContext, type Definitions, readDefinitions } from "./read-definitions.ts";
import { TemplateEvaluator } from "./template-evaluator.ts";

const evaluator = new TemplateEvaluator();
afterAll(() => evaluator.stop());

const context: DefinitionContext = {
  repository: "here",
  commit: {
    sha: "a".repeat(40),
    subject: "Begin",
    author: "Ada",
    committedAt: new Date("2024-01-02T03:04:05Z"),
  },
  rev: "main",
  branch: "main",
};

function read(
  files: string | Record<string, string>,
  given: Record<string, unknown> = {},
): Promise<Definitions> {
  const all = typeof files === "string" ? { ".grange/jobs.yml": files } : files;
  return readDefinitions(new Map(Object.entries(all)), given, context, evaluator);
}

async function problemsOf(
  files: string | Record<string, string>,
  given: Record<string, unknown> = {},
): Promise<string[]> {
  const reason: unknown = await read(files, given).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(reason instanceof DefinitionProblems)) throw reason ?? new Error("nothing was wrong");
  return reason.problems.map((p) => `${p.file}:${p.line}:${p.column}: ${p.message}`);
}

describe("the content of a file", () => {
  test("one command becomes a list of one, and no other key is added", async () => {
    const { jobs } = await read("version: 1\njobs:\n  lint:\n    commands: npm run lint\n");

    expect(jobs.map(({ name, definition, wanted }) => ({ name, definition, wanted }))).toEqual([
      { name: "lint", definition: { commands: ["npm run lint"] }, wanted: true },
    ]);
  });

  test("a list of needs becomes a map of needs without further keys", async () => {
    const { jobs } = await read(
      "version: 1\njobs:\n  a: {commands: x}\n  b: {commands: x, needs: [a]}\n",
    );

    expect(jobs[1]?.definition.needs).toEqual({ a: {} });
  });

  test("all files of the directory form one set of jobs, in any order", async () => {
    const { jobs } = await read({
      ".grange/b.yml": "version: 1\njobs: {two: {commands: x}}",
      ".grange/a.yaml": "version: 1\njobs: {one: {commands: x}}",
    });

    expect(jobs.map((job) => job.name)).toEqual(["one", "two"]);
  });

  test("parameters, repository, commit and branch fill the placeholders", async () => {
    const { jobs } = await read(
      `version: 1
parameters: {node: {type: number, default: 20}}
jobs:
  test: {commands: "run \${parameters.node} \${repository} \${commit.author} \${branch}"}`,
      { node: 24 },
    );

    expect(jobs[0]?.definition.commands).toEqual(["run 24 here Ada main"]);
  });

  test("jobs can be made from a list", async () => {
    const { jobs } = await read(`version: 1
jobs:
  $merge:
    - lint: {commands: x}
    - $merge:
        $map: [1, 2]
        each(n): {"test/\${n}": {commands: "run \${n}"}}`);

    expect(jobs.map((job) => job.name)).toEqual(["lint", "test/1", "test/2"]);
  });

  test.each([
    { when: "branch == 'main'", wanted: true },
    { when: "branch == 'other'", wanted: false },
    { when: "{$eval: 'branch != rev'}", wanted: false },
  ])("a job whose `when` is $when is wanted: $wanted", async ({ when, wanted }) => {
    const { jobs } = await read(`version: 1\njobs:\n  a:\n    when: ${when}\n    commands: x`);

    expect(jobs[0]?.wanted).toBe(wanted);
  });

  test("the time in a template is the commit's time, so a commit always gives the same jobs", async () => {
    const { jobs } = await read(`version: 1\njobs: {a: {commands: "\${now}"}}`);

    expect(jobs[0]?.definition.commands).toEqual(["2024-01-02T03:04:05.000Z"]);
  });
});

describe("the messages for mistakes", () => {
  test.each([
    {
      what: "an unknown key",
      yaml: "version: 1\njobs:\n  lint:\n    comands: x\n    commands: x",
      says: '.grange/jobs.yml:4:5: job "lint": there is no key "comands" here; did you mean "commands"?',
    },
    {
      what: "an unknown key at the top",
      yaml: "version: 1\njob: {}",
      says: '.grange/jobs.yml:2:1: there is no key "job" here; did you mean "jobs"?',
    },
    {
      what: "a bad duration",
      yaml: "version: 1\njobs:\n  a:\n    commands: x\n    timeout: 10 bananas",
      says: '.grange/jobs.yml:5:14: job "a": timeout: must be a duration from 1s to 24h, such as "90s", "10m" or "1h 30m"',
    },
    {
      what: "a bad amount of memory",
      yaml: "version: 1\njobs:\n  a:\n    commands: x\n    limits: {memory: much}",
      says: '.grange/jobs.yml:5:22: job "a": memory: must be an amount of memory such as "512MiB"',
    },
    {
      what: "no commands",
      yaml: "version: 1\njobs:\n  a: {tags: {b: c}}",
      says: '.grange/jobs.yml:3:6: job "a": a job needs "commands" (or "kind: join", when it only gathers other jobs)',
    },
    {
      what: "a path that climbs out",
      yaml: "version: 1\njobs:\n  a:\n    commands: x\n    outputs: [../../etc]",
      says: '.grange/jobs.yml:5:15: job "a": outputs: must be a path inside the repository: no leading /, no ..',
    },
    {
      what: "a missing version",
      yaml: "jobs: {a: {commands: x}}",
      says: ".grange/jobs.yml:1:1: version: must be 1: the version of the language",
    },
    {
      what: "a job's name with a letter that looks like another",
      yaml: "version: 1\njobs:\n  l\u0456nt: {commands: x}",
      says: '.grange/jobs.yml:3:3: "l\\u{456}nt" is not a job\'s name: use letters A-Z a-z, digits, and . _ - with / between parts',
    },
    {
      what: "a wrong value inside a condition",
      yaml: "version: 1\njobs:\n  $if: 'true'\n  then:\n    a:\n      commands: x\n      retries: 99",
      says: '.grange/jobs.yml:7:16: job "a": retries: must be from 0 to 10',
    },
    {
      what: "a shell variable written as a hole",
      yaml: "version: 1\njobs:\n  a:\n    commands: 'echo ${HOME}'",
      says: '.grange/jobs.yml:4:15: template: there is no value "HOME" here (there are parameters, switches, repository, commit, branch, rev); for a variable of the shell write $HOME or $${...} with two dollar signs',
    },
    {
      what: "jobs beside a construct",
      yaml: "version: 1\njobs:\n  a: {commands: x}\n  $merge: [{b: {commands: y}}]",
      says: 'template: "a" cannot be in the same map as $merge; move it into a map of its list',
    },
    {
      what: "jobs beside a loop",
      yaml: "version: 1\njobs:\n  a: {commands: x}\n  $map: [1]\n  each(n): {'b${n}': {commands: y}}",
      says: 'template: "a" cannot be in the same map as $map; move it away, and join the two with $merge',
    },
    {
      what: "an expression that is not complete",
      yaml: "version: 1\njobs:\n  a: {commands: {$eval: 'in list'}}",
      says: "an expression cannot be parsed; check its operators and parentheses",
    },
    {
      what: "a duplicate key",
      yaml: "version: 1\njobs:\n  a: {commands: x}\n  a: {commands: y}",
      says: '.grange/jobs.yml:4:3: the key "a" occurs twice here; keep one',
    },
    {
      what: "a prototype key",
      yaml: "version: 1\njobs:\n  __proto__: {commands: x}",
      says: '.grange/jobs.yml:3:3: "__proto__" cannot be a key',
    },
  ])("$what", async ({ yaml, says }) => {
    expect((await problemsOf(yaml)).join("\n")).toContain(says);
  });

  test("a job defined in two files: both places are named", async () => {
    const problems = await problemsOf({
      ".grange/a.yml": "version: 1\njobs:\n  x: {commands: a}",
      ".grange/b.yml": "version: 1\n\njobs:\n  x: {commands: b}",
    });

    expect(problems).toEqual([
      '.grange/b.yml:4:3: job "x" is defined already, in .grange/a.yml:3; rename one of them',
    ]);
  });

  test("every invalid job is reported, not only the first", async () => {
    const problems = await problemsOf(
      "version: 1\njobs:\n  a: {comands: x}\n  b: {commands: '${nope}'}\n  c: {retries: x}",
    );

    expect(problems.map((problem) => problem.split(":")[1])).toEqual(["4", "3", "3", "5"]);
  });

  test.each([
    {
      what: "an unknown parameter",
      given: { nod: 1 },
      says: 'the definitions have no parameter "nod"; did you mean "node"?',
    },
    {
      what: "a parameter of another type",
      given: { node: "x" },
      says: 'parameter "node" must be of type number',
    },
    {
      what: "a parameter without a value",
      given: {},
      says: 'parameter "node" has no default: give it a value',
    },
  ])("$what", async ({ given, says }) => {
    const problems = await problemsOf(
      "version: 1\nparameters: {node: {type: number}}\njobs: {a: {commands: x}}",
      given,
    );

    expect(problems.join("\n")).toContain(says);
  });
});
