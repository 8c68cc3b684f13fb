import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Farm, startFarm } from "../support/farm.ts";
import { grangeJson, runGrange } from "../support/run-grange.ts";
import { sampleRepository } from "../support/sample-repository.ts";

interface Kind {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly jobs: readonly string[];
  /** What its jobs call; where one is missing the starter is written, but not run. */
  readonly tools: readonly string[];
}

const kinds: readonly Kind[] = [
  {
    name: "package.json",
    files: {
      "package.json": JSON.stringify({
        name: "sample",
        version: "1.0.0",
        scripts: { lint: "node --check index.js", test: "node index.js" },
      }),
      "package-lock.json": JSON.stringify({
        name: "sample",
        version: "1.0.0",
        lockfileVersion: 3,
        packages: { "": { name: "sample", version: "1.0.0" } },
      }),
      "index.js": "console.log('tested')\n",
    },
    jobs: ["install", "lint", "test"],
    tools: ["npm"],
  },
  {
    name: "Makefile",
    files: { Makefile: "all:\n\techo made > made.txt\n\ntest: all\n\tgrep made made.txt\n" },
    jobs: ["make/all", "make/test"],
    tools: ["make"],
  },
  {
    name: "Cargo.toml",
    files: {
      "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n',
      "src/lib.rs": "#[test]\nfn holds() {}\n",
    },
    jobs: ["cargo/build", "cargo/test"],
    // Found is not enough: a toolchain that lies in a home is not seen by jobs.
    tools: [],
  },
  {
    name: "go.mod",
    files: {
      "go.mod": "module example.org/sample\n\ngo 1.21\n",
      "a_test.go": 'package sample\n\nimport "testing"\n\nfunc TestHolds(t *testing.T) {}\n',
    },
    jobs: ["go/vet", "go/test"],
    tools: ["go"],
  },
  {
    name: "CMakeLists.txt",
    files: {
      "CMakeLists.txt":
        "cmake_minimum_required(VERSION 3.16)\nproject(sample C)\nenable_testing()\nadd_executable(sample a.c)\nadd_test(NAME runs COMMAND sample)\n",
      "a.c": "int main(void) { return 0; }\n",
    },
    jobs: ["cmake"],
    tools: ["cmake", "cc"],
  },
];

let farm: Farm;
beforeAll(async () => {
  farm = await startFarm();
});
afterAll(() => farm.stop());

function isThere(tool: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${tool}`]).status === 0;
}

test.each(kinds)(
  "init finds out about a repository with $name, and what it writes is run to green",
  async ({ files, jobs, tools }) => {
    const repository = await sampleRepository(files);
    try {
      const answer = await grangeJson(["init"], { cwd: repository.path });

      expect(answer).toMatchObject({ file: `${repository.path}/.grange/farm.yml`, jobs });
      await repository.git("add", "--all");
      await repository.git("commit", "--quiet", "-m", "Describe the jobs");
      // Another `init` destroys nothing.
      expect((await runGrange(["init"], { cwd: repository.path })).code).toBeGreaterThan(0);

      const canRun = tools.length > 0 && tools.every(isThere);
      const args = ["submit", "--server", farm.url, ...(canRun ? ["--wait"] : [])];
      const submitted = await grangeJson(args, { cwd: repository.path });
      // Where its tools are missing, the definitions at least make a graph.
      expect(submitted).toMatchObject(
        canRun ? { state: "succeeded", jobs: jobs.length } : { graph: { jobs: jobs.length } },
      );
    } finally {
      await repository.remove();
    }
  },
);
