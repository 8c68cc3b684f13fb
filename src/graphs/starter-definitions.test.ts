import { afterAll, expect, test } from "vitest";
import { definitionsFrom } from "./definitions/definitions-from.fixture.ts";
import { TemplateEvaluator } from "./definitions/template-evaluator.ts";
import { plan } from "./plan.ts";
import { starterDefinitions } from "./starter-definitions.ts";

const evaluator = new TemplateEvaluator();
afterAll(() => evaluator.stop());

test.each<{ what: string; files: Record<string, string>; jobs: string[] }>([
  {
    what: "an npm package with a lock file",
    files: {
      "package.json": '{"scripts":{"lint":"x","test":"y","start":"z"}}',
      "package-lock.json": "{}",
    },
    jobs: ["install", "lint", "test"],
  },
  {
    what: "an npm package without one",
    files: { "package.json": '{"scripts":{"build":"x"}}' },
    jobs: ["build"],
  },
  {
    what: "npm's own placeholder of a test",
    files: {
      "package.json": '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}',
    },
    jobs: ["hello"],
  },
  { what: "a broken package.json", files: { "package.json": "{" }, jobs: ["hello"] },
  {
    what: "a Makefile",
    files: { Makefile: "CC := gcc\nall: x\n\ntest:\n\ttrue\ncheck := 1\n" },
    jobs: ["make/all", "make/test"],
  },
  {
    what: "a crate",
    files: { "Cargo.toml": "", "Cargo.lock": "" },
    jobs: ["cargo/build", "cargo/test"],
  },
  { what: "a Go module", files: { "go.mod": "module x" }, jobs: ["go/vet", "go/test"] },
  { what: "a CMake project", files: { "CMakeLists.txt": "enable_testing()" }, jobs: ["cmake"] },
  { what: "nothing that is known", files: {}, jobs: ["hello"] },
])("from $what come definitions that the farm accepts", async ({ files, jobs }) => {
  const starter = starterDefinitions(new Map(Object.entries(files)));

  expect(starter.jobs).toEqual(jobs);
  const { catalog } = plan(await definitionsFrom(evaluator, starter.text));
  expect(catalog.entries.map((entry) => entry.name)).toEqual(jobs.toSorted());
});

test("a lock file of another manager is named: its install is not written, and is missed", () => {
  const starter = starterDefinitions(
    new Map([
      ["package.json", '{"scripts":{"test":"x"}}'],
      ["pnpm-lock.yaml", ""],
    ]),
  );

  expect(starter.found.join()).toContain("pnpm-lock.yaml, whose install is yours to write");
  expect(starter.text).toContain(
    "# Needs a job before it that installs what pnpm-lock.yaml names.",
  );
});
