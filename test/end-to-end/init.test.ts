import { afterAll, beforeAll, expect, test } from "vitest";
import { type Farm, startFarm } from "../support/farm.ts";
import { gradle } from "../support/needs/machine-needs.ts";
import { needs } from "../support/needs/needs.ts";
import { programs } from "../support/needs/program.ts";
import { grangeJson, runGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

let farm: Farm;
beforeAll(async () => {
  farm = await startFarm();
});
afterAll(() => farm.stop());

/** Projects that need no package of a registry: tests do not depend on the network. */
const files = {
  npm: {
    "package.json": JSON.stringify({
      name: "top",
      version: "1.0.0",
      workspaces: ["packages/*"],
      scripts: { lint: "node --check test.cjs", test: "node test.cjs" },
    }),
    "package-lock.json": JSON.stringify({
      name: "top",
      version: "1.0.0",
      lockfileVersion: 3,
      packages: {
        "": { name: "top", version: "1.0.0", workspaces: ["packages/*"] },
        "node_modules/text": { resolved: "packages/text", link: true },
        "packages/text": { version: "1.0.0" },
      },
    }),
    "packages/text/package.json": '{"name":"text","version":"1.0.0","main":"text.cjs"}',
    "packages/text/text.cjs": "module.exports = 7;\n",
    "test.cjs": 'if (require("text") !== 7) process.exit(1);\n',
  },
  cargo: {
    "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "sample"\nversion = "0.1.0"\n',
    "src/lib.rs": "#[test]\nfn holds() {}\n",
  },
  go: {
    "go.mod": "module example.org/sample\n\ngo 1.19\n",
    "a_test.go": 'package sample\n\nimport "testing"\n\nfunc TestHolds(t *testing.T) {}\n',
  },
  cmake: {
    "CMakeLists.txt":
      "cmake_minimum_required(VERSION 3.16)\nproject(sample C)\nenable_testing()\nadd_executable(sample a.c)\nadd_test(NAME runs COMMAND sample)\n",
    "a.c": "int main(void) { return 0; }\n",
  },
  make: { Makefile: "all:\n\techo made > made.txt\n\ntest: all\n\tgrep made made.txt\n" },
  dune: {
    "dune-project": "(lang dune 2.0)\n",
    "bin/dune": "(executable (name a))\n(rule (alias runtest) (action (run ./a.exe)))\n",
    "bin/a.ml": 'let () = print_endline "runs"\n',
  },
  gradle: {
    "build.gradle": "task assemble\ntask test\n",
    "settings.gradle": "rootProject.name = 'a'\n",
  },
  workflow: {
    ".github/workflows/ci.yml":
      "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    strategy: { matrix: { n: [1, 2] } }\n    steps:\n      - uses: actions/checkout@v4\n      - run: |\n          if [[ $N = x ]]; then exit 1; fi\n          grep ${{ matrix.n }} numbers.txt\n  b:\n    needs: a\n    runs-on: ubuntu-latest\n    defaults: { run: { working-directory: lib } }\n    steps: [{ run: cat b.txt }]\n",
    "numbers.txt": "1\n2\n",
    "lib/b.txt": "b\n",
  },
  mixed: {
    Makefile: "test:\n\ttrue\n",
    "web/package.json": '{"scripts":{"test":"node -p 1"}}',
  },
};

const compiler = ["gcc", "libc6-dev"];
const make = programs("Make", { programs: ["make"], packages: ["make"] });
const kinds = [
  { kind: "npm", jobs: ["install", "lint", "test"], lacks: [] },
  { kind: "workflow", jobs: ["ci/a-1", "ci/a-2", "ci/b"], lacks: [] },
  { kind: "make", jobs: ["make"], lacks: [make] },
  { kind: "mixed", jobs: ["make", "web/test"], lacks: [make] },
  {
    kind: "cargo",
    jobs: ["cargo/test"],
    lacks: [programs("Cargo", { programs: ["cargo", "cc"], packages: ["cargo", ...compiler] })],
  },
  {
    kind: "go",
    jobs: ["go/test"],
    lacks: [programs("Go", { programs: ["go"], packages: ["golang-go"] })],
  },
  {
    kind: "cmake",
    jobs: ["cmake"],
    lacks: [
      programs("CMake", {
        programs: ["cmake", "make", "cc"],
        packages: ["cmake", "make", ...compiler],
      }),
    ],
  },
  {
    kind: "dune",
    jobs: ["dune"],
    lacks: [
      programs("dune", {
        programs: ["dune", "ocaml"],
        packages: ["ocaml-dune", "ocaml-nox"],
      }),
    ],
  },
  { kind: "gradle", jobs: ["gradle/test"], lacks: [gradle] },
] as const;

for (const { kind, jobs, lacks } of kinds) {
  test(
    `init of a repository of the kind ${kind} writes jobs that succeed`,
    needs(...lacks),
    async () => {
      const repository = await sampleRepository(files[kind]);
      try {
        expect(await grangeJson(["init"], { cwd: repository.path })).toMatchObject({
          missingTools: [],
        });
        await commit(repository);

        const args = ["submit", "--server", farm.url, "--wait"];
        expect(await grangeJson(args, { cwd: repository.path })).toMatchObject({
          state: "succeeded",
          jobs: jobs.length,
        });
        const again = await grangeJson(["init", "--dry-run"], { cwd: repository.path });
        expect(jobsIn(again)).toEqual(jobs);
      } finally {
        await repository.remove();
      }
    },
  );
}

test("init overwrites definitions only with --force", async () => {
  const repository = await sampleRepository(files.workflow);
  try {
    await grangeJson(["init"], { cwd: repository.path });

    const refused = await runGrange(["init"], { cwd: repository.path });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("--force") });

    await grangeJson(["init", "--force"], { cwd: repository.path });
  } finally {
    await repository.remove();
  }
});

async function commit(repository: SampleRepository): Promise<void> {
  await repository.git("add", "--all");
  await repository.git("commit", "--quiet", "-m", "Describe the jobs");
}

function jobsIn(answer: unknown): string[] {
  const { files: written } = answer as { files: readonly { jobs: readonly string[] }[] };
  return written.flatMap((file) => file.jobs);
}
