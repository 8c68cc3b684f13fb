import { describe, expect, test } from "vitest";
import { recognise } from "./recognise.ts";
import { describesBuild, type RepositoryFiles } from "./repository-files.ts";

function repository(files: Readonly<Record<string, string>>): RepositoryFiles {
  const texts = new Map(Object.entries(files).filter(([path]) => describesBuild(path)));
  return { paths: Object.keys(files), texts, submodules: [] };
}

function jobsOf(files: Readonly<Record<string, string>>, isInstalled = () => true): string[] {
  return recognise(repository(files), isInstalled).jobs.map(({ name }) => name);
}

const cargoManifest = '[package]\nname = "a"\n';

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
    what: "an npm package that needs nothing",
    files: { "package.json": '{"scripts":{"build":"x"}}' },
    jobs: ["build"],
  },
  {
    what: "npm's own placeholder of a test",
    files: {
      "package.json": '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}',
    },
    jobs: [],
  },
  { what: "a broken package.json", files: { "package.json": "{" }, jobs: [] },
  {
    what: "a pnpm package",
    files: {
      "package.json": '{"scripts":{"test":"x"}}',
      "pnpm-lock.yaml": "lockfileVersion: '9.0'\n",
    },
    jobs: ["install", "test"],
  },
  {
    what: "a Yarn package",
    files: { "package.json": '{"scripts":{"test":"x"}}', "yarn.lock": "# yarn lockfile v1\n" },
    jobs: ["install", "test"],
  },
  {
    what: "a crate",
    files: { "Cargo.toml": cargoManifest, "Cargo.lock": "" },
    jobs: ["cargo/test"],
  },
  {
    what: "a crate with dependencies",
    files: { "Cargo.toml": `${cargoManifest}[dependencies]\nitoa = "1"\n`, "Cargo.lock": "" },
    jobs: ["cargo/fetch", "cargo/test"],
  },
  { what: "a Go module", files: { "go.mod": "module x\n" }, jobs: ["go/test"] },
  {
    what: "a Go module with dependencies",
    files: { "go.mod": "module x\nrequire y v1.0.0\n", "go.sum": "" },
    jobs: ["go/modules", "go/test"],
  },
  {
    what: "a Go module with vendored dependencies",
    files: { "go.mod": "module x\nrequire y v1.0.0\n", "vendor/modules.txt": "" },
    jobs: ["go/test"],
  },
  { what: "a CMake project", files: { "CMakeLists.txt": "project(x C)\n" }, jobs: ["cmake"] },
  {
    what: "a part of a CMake project",
    files: { "lib/CMakeLists.txt": "add_library(x x.c)\n" },
    jobs: [],
  },
  {
    what: "a Makefile",
    files: { Makefile: "CC := gcc\nall: x\n\ntest:\n\ttrue\n" },
    jobs: ["make"],
  },
  {
    what: "a Maven project",
    files: { "pom.xml": "<project/>" },
    jobs: ["maven/dependencies", "maven/test"],
  },
  { what: "a Gradle build", files: { "build.gradle": "" }, jobs: ["gradle/test"] },
  {
    what: "a Gradle build with its wrapper",
    files: { "build.gradle.kts": "", gradlew: "", "gradle/wrapper/gradle-wrapper.jar": "" },
    jobs: ["gradle/wrapper", "gradle/test"],
  },
  { what: "a Bazel workspace", files: { "MODULE.bazel": "" }, jobs: ["bazel/test"] },
  { what: "a dune project", files: { "dune-project": "(lang dune 2.0)" }, jobs: ["dune"] },
  {
    what: "a Python package with tests",
    files: {
      "pyproject.toml": '[build-system]\nrequires = ["setuptools"]\n',
      "tests/test_a.py": "",
    },
    jobs: ["python/test"],
  },
  {
    what: "Python with requirements and tests",
    files: { "requirements.txt": "packaging\n", "test_a.py": "" },
    jobs: ["python/wheels", "python/test"],
  },
  {
    what: "Python locked by uv",
    files: { "pyproject.toml": '[project]\nname = "a"\n', "uv.lock": "", "tests/test_a.py": "" },
    jobs: ["uv/packages", "python/test"],
  },
  {
    what: "Python with tox",
    files: { "setup.py": "", "tox.ini": "[tox]\n[testenv]\ndeps = pytest\ncommands = pytest\n" },
    jobs: ["python/tox"],
  },
  { what: "settings of Python's linters", files: { "pyproject.toml": "[tool.black]\n" }, jobs: [] },
  { what: "nothing that is known", files: { "README.md": "" }, jobs: [] },
])("recognises $what", ({ files, jobs }) => {
  expect(jobsOf(files)).toEqual(jobs);
});

test.each([
  ["commands = pytest", "py"],
  ["commands =\n    tests: pytest\n    mypy: mypy src", "py-tests"],
  ["commands =\n    mypy: mypy src\n    unit: python -m unittest", "py-mypy"],
  ["commands =\n    pytest\n    docs: sphinx-build", "py"],
])("tox with %j runs the environment %s", (commands, environment) => {
  const files = { "setup.py": "", "tox.ini": `[tox]\n[testenv]\n${commands}\n[testenv:lint]\n` };

  expect(recognise(repository(files), () => true).jobs[0]?.commands.at(-1)).toBe(
    `tox run -e ${environment}`,
  );
});

test("says nothing of Prettier when it checks other directories", () => {
  const files = { "package.json": '{"scripts":{"lint":"prettier -c src test"}}' };

  expect(recognise(repository(files), () => true).notes).toEqual([]);
});

test.each([
  ["manypkg check && pnpm --dir build install", true],
  ["npm ci --prefix docs", true],
  ["patch-package", undefined],
  ["node scripts/install.js", undefined],
])("jobs that run the postinstall %j have the network: %s", (postinstall, network) => {
  const files = { "package.json": JSON.stringify({ scripts: { test: "x", postinstall } }) };

  expect(recognise(repository(files), () => true).jobs.at(-1)?.network).toBe(network);
});

test("tox hands on the version that a job cannot read from Git", () => {
  const files = {
    "pyproject.toml": '[build-system]\nrequires = ["hatch-vcs"]\n',
    "tox.ini": "[testenv]\ncommands = pytest\n",
  };

  expect(recognise(repository(files), () => true).jobs[0]?.environment).toMatchObject({
    SETUPTOOLS_SCM_PRETEND_VERSION: "0.1.0",
    TOX_OVERRIDE: "testenv.pass_env+=*_VERSION;pkgenv.pass_env+=*_VERSION",
  });
});

test.each([
  [
    "pnpm 11",
    { "package.json": '{"packageManager":"pnpm@11.3.0"}', "pnpm-lock.yaml": "" },
    "pnpm 11.3.0 needs Node 22.13 or later on the workers",
  ],
  [
    "packages of opam",
    { "dune-project": "", "a.opam": "", "b.opam": "" },
    "packages that a.opam, b.opam name must be installed on the worker, in the opam switch on its PATH",
  ],
  [
    "a version of Bazel",
    { "MODULE.bazel": "", ".bazelversion": "8.x\n" },
    ".bazelversion names 8.x: install that Bazel, or Bazelisk, on the workers",
  ],
  [
    "Prettier",
    { "package.json": '{"scripts":{"test":"prettier . --list-different"}}' },
    "a script checks the format by Prettier: before the commit, npx prettier --write .grange",
  ],
])("notes what a person must do for %s", (_, files, note) => {
  expect(recognise(repository(files), () => true).notes[0]).toBe(note);
});

describe("in a repository of several projects", () => {
  test("jobs of a directory are named by it, run in it, and name its files", () => {
    const { jobs } = recognise(
      repository({
        "go.mod": "module x\n",
        "web/package.json": '{"scripts":{"test":"x"}}',
        "web/package-lock.json": "{}",
      }),
      () => true,
    );

    expect(jobs.map(({ name }) => name)).toEqual(["go/test", "web/install", "web/test"]);
    expect(jobs[1]).toMatchObject({
      workingDirectory: "web",
      inputs: ["web/package.json", "web/package-lock.json"],
      outputs: ["web/node_modules"],
    });
    expect(jobs[2]?.needs).toEqual(["web/install"]);
  });

  test("a Makefile beside another kind is left out, and that is noted", () => {
    const found = recognise(
      repository({ "go.mod": "module x\n", Makefile: "all:\n\tgo build\n" }),
      () => true,
    );

    expect(found.jobs.map(({ name }) => name)).toEqual(["go/test"]);
    expect(found.notes.join()).toContain("Makefile with all was left out");
  });

  test("of Bazel and CMake the one is taken whose tools are installed", () => {
    const files = { "MODULE.bazel": "", "CMakeLists.txt": "project(x C)\n" };

    expect(jobsOf(files)).toEqual(["bazel/test"]);
    expect(recognise(repository(files), (program) => program !== "bazel").jobs[0]?.name).toBe(
      "cmake",
    );
  });

  test("members of a workspace, examples and fixtures are no projects of their own", () => {
    expect(
      jobsOf({
        "Cargo.toml": '[workspace]\nmembers = ["a"]\n',
        "Cargo.lock": "",
        "a/Cargo.toml": cargoManifest,
        "examples/web/package.json": '{"scripts":{"test":"x"}}',
      }),
    ).toEqual(["cargo/test"]);
  });
});

test("a workspace of npm hands its packages on in an archive, since they are links out of node_modules", () => {
  const { jobs } = recognise(
    repository({
      "package.json": '{"workspaces":["packages/*"],"scripts":{"test":"x","build":"y"}}',
      "package-lock.json": '{"packages":{"packages/a/node_modules/ms":{}}}',
      "packages/a/package.json": '{"name":"a","main":"dist/a.js"}',
    }),
    () => true,
  );

  expect(jobs[0]).toMatchObject({
    inputs: ["package.json", "package-lock.json", "packages/a/package.json"],
    outputs: [".grange-modules.tar"],
  });
  // A package that another package imports is built first.
  expect(jobs[1]?.commands).toEqual(["tar -xf .grange-modules.tar", "npm run build", "npm test"]);
});

test("install scripts of a dependency run by name where the repository has scripts of its own", () => {
  const { jobs } = recognise(
    repository({
      "package.json": '{"scripts":{"test":"x","prepare":"husky"}}',
      "package-lock.json":
        '{"packages":{"node_modules/esbuild":{"hasInstallScript":true},"node_modules/ms":{}}}',
    }),
    () => true,
  );

  expect(jobs[0]?.commands).toEqual([
    "npm ci --no-audit --no-fund --ignore-scripts",
    "npm rebuild esbuild",
  ]);
});
