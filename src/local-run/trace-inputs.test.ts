import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestRepository, testRepository } from "#git/repository.fixture.ts";
import { readWorkerConfig } from "#worker/config.ts";
import { type InputsTrace, traceInputs } from "./trace-inputs.ts";

const scratch = mkdtempSync(join(tmpdir(), "grange-trace-test-"));
const config = readWorkerConfig({ dataDir: join(scratch, "data") });
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const quiet = { taken: () => {}, started: () => {}, printed: () => {}, ended: () => {} };

function trace({ path }: TestRepository, job: string, confirm = true): Promise<InputsTrace> {
  const given = { parameters: {}, switches: {} };
  const { signal } = new AbortController();
  const request = { root: path, job, given, config, confirm, signal };
  return traceInputs(request, { begins: () => {}, needs: quiet });
}

interface Planted {
  readonly what: string;
  readonly command: string;
  readonly inputs: readonly string[];
  /** Undeclared files that the job reads or requests. */
  readonly planted: readonly string[];
  /** A program that is not on every machine. */
  readonly needs?: string;
}

const plants: readonly Planted[] = [
  {
    what: "cat",
    command: "cat data/a.txt data/b.txt",
    inputs: ["data/a.txt"],
    planted: ["data/b.txt"],
  },
  {
    what: "a sourced shell file",
    command: ". ./lib/env.sh; run",
    inputs: [],
    planted: ["lib/env.sh"],
  },
  {
    what: "#include",
    command: "cc -fsyntax-only c/main.c",
    inputs: ["c/main.c"],
    planted: ["c/part.h"],
    needs: "cc",
  },
  {
    what: "require",
    command: "node js/main.cjs",
    inputs: ["js/main.cjs"],
    planted: ["js/part.cjs"],
  },
  {
    what: "a dynamic import",
    command: "node js/main.mjs",
    inputs: ["js/main.mjs"],
    planted: ["js/late.mjs"],
  },
  { what: "a glob", command: "cat conf/*.ini", inputs: ["conf/a.ini"], planted: ["conf/b.ini"] },
  { what: "an executed script", command: "./tools/gen.sh", inputs: [], planted: ["tools/gen.sh"] },
  {
    what: "the target of a symlink",
    command: "cat current",
    inputs: ["current"],
    planted: ["versions/v2.txt"],
  },
  {
    what: "the names in a directory",
    command: "ls migrations | wc -l",
    inputs: ["data/a.txt"],
    planted: ["migrations/*"],
  },
  {
    what: "a configuration above",
    command: "cd deep/er/down && node ../../../js/up.cjs",
    inputs: ["js/up.cjs", "deep/er/down/keep"],
    planted: ["deep/settings.json"],
  },
  {
    what: "an executed binary",
    command: "./tools/own-cat data/a.txt",
    inputs: ["data/a.txt"],
    planted: ["tools/own-cat"],
  },
  {
    what: "a mapped file",
    command: "python3 py/map.py",
    inputs: ["py/map.py"],
    planted: ["py/data.bin"],
    needs: "python3",
  },
  {
    what: "the existence of a file",
    command: "test -f flags/on || { echo 'flags/on: not found'; exit 1; }",
    inputs: [],
    planted: ["flags/on"],
  },
];

const repository = testRepository(scratch);
beforeAll(() => {
  const job = ({ command, inputs }: Planted, at: number) =>
    `  j${at}: ${JSON.stringify({ commands: command, inputs })}\n`;
  const name = (text: string) => text.replaceAll("$", "$$$$");
  repository.write({
    ".grange/farm.yml": `version: 1\njobs:\n${plants.map(job).map(name).join("")}`,
    "data/a.txt": "a\n",
    "data/b.txt": "b\n",
    "lib/env.sh": "run() { echo ran; }\n",
    "c/main.c": '#include "part.h"\nint main(void) { return part; }\n',
    "c/part.h": "enum { part = 0 };\n",
    "js/main.cjs": 'require("./part.cjs");\n',
    "js/part.cjs": "",
    "js/main.mjs": 'await import("./late.mjs");\n',
    "js/late.mjs": "",
    "conf/a.ini": "a\n",
    "conf/b.ini": "b\n",
    "conf/unread.txt": "x",
    "tools/gen.sh": "#!/bin/sh\necho generated\n",
    "versions/v1.txt": "1\n",
    "versions/v2.txt": "2\n",
    current: "->versions/v2.txt",
    "migrations/001.sql": "x",
    "migrations/002.sql": "x",
    "deep/settings.json": "{}",
    "deep/er/down/keep": "",
    "js/up.cjs": `const { existsSync, readFileSync } = require("node:fs");
const { dirname, join } = require("node:path");
for (let at = process.cwd(); ; at = dirname(at)) {
  if (existsSync(join(at, "settings.json"))) { readFileSync(join(at, "settings.json")); break; }
  if (at === "/") throw new Error("settings.json: not found");
}
`,
    "py/map.py": `import mmap
with open("py/data.bin", "rb") as file:
    assert mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)[0] == 100
`,
    "py/data.bin": "data",
    "flags/on": "",
    "notes/unread.md": "x",
  });
  mkdirSync(join(repository.path, "tools"), { recursive: true });
  copyFileSync("/bin/cat", join(repository.path, "tools/own-cat"));
  for (const tool of ["gen.sh", "own-cat"]) chmodSync(join(repository.path, "tools", tool), 0o755);
  repository.commit("first");
});

function isHere(program: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

test.each(plants.map((plant, at) => ({ ...plant, at })))(
  "finds what a job does not declare, and nothing else: $what",
  async ({ at, planted, needs }) => {
    if (needs !== undefined && !isHere(needs)) return;

    const found = await trace(repository, `j${at}`);

    const names = found.listed.map((directory) => `${directory}/*`);
    expect([...found.missing, ...names, ...found.requested]).toEqual(planted);
    expect(found.confirmation).toEqual({ kind: "same" });
    expect(found.end.exitCode).toBe(0);
  },
);

test("names what is declared in vain, and outputs that are not read", async () => {
  const other = testRepository(scratch);
  other.write({
    ".grange/farm.yml": `version: 1
jobs:
  used: {inputs: [], commands: "mkdir u; echo x > u/file", outputs: [u]}
  idle: {inputs: [], commands: "echo x > i", outputs: [i]}
  a:
    inputs: [src, docs, "*.md", "!src/skipped"]
    needs: [used, idle]
    commands: "cat src/one u/file; echo new > src/two; cat src/two; ls made > /dev/null 2>&1; mkdir -p out; cat src/one > out/x"
    outputs: [out]
  fails: {inputs: [src], commands: "cat src/one; exit 4"}
`,
    "src/one": "1",
    "src/two": "2",
    "src/skipped": "3",
    "docs/a": "x",
    "README.md": "x",
  });
  other.commit("first");

  const found = await trace(other, "a");
  const failed = await trace(other, "fails");

  expect(found).toMatchObject({
    missing: [],
    listed: [],
    unused: ["docs", "*.md"],
    unusedNeeds: ["idle"],
    proposal: ["src", "!src/skipped"],
    confirmation: { kind: "same" },
  });
  expect(failed).toMatchObject({
    end: { exitCode: 4 },
    confirmation: { kind: "same" },
    missing: [],
  });
});

test("without declared inputs it proposes those that were read", async () => {
  const other = testRepository(scratch);
  other.write({
    ".grange/farm.yml": `version: 1\njobs:\n  a: {commands: "cat src/*.c src/deep/* top"}\n`,
    ...Object.fromEntries(
      ["a.c", "b.c", "c.c", "x.h", "deep/1", "deep/2"].map((name) => [`src/${name}`, "x"]),
    ),
    top: "x",
    other: "x",
  });
  other.commit("first");

  const found = await trace(other, "a", false);

  expect(found.declaresInputs).toBe(false);
  expect(found.proposal).toEqual(["top", "src/*.c", "src/deep"]);
  expect(found.missing).toEqual([]);
  expect(found.confirmation).toEqual({ kind: "not-asked-for" });
});
