import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { convertWorkflows } from "./convert-workflows.ts";

function convert(text: string) {
  return convertWorkflows(new Map([[".github/workflows/ci.yml", text]]));
}

function ofSteps(steps: string, more = "") {
  return convert(`on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n${more}    steps:\n${steps}`);
}

const commandsOf = (converted: ReturnType<typeof convert>) => converted.jobs[0]?.commands;

test("steps become commands; checkout and setup do not, and the tools that they bring are named", () => {
  const converted = ofSteps(
    "      - uses: actions/checkout@v4\n      - uses: actions/setup-node@v4\n        with: { node-version: 22 }\n      - run: |\n          # install\n          npm ci\n          npm test\n",
    "    timeout-minutes: 7\n    env: { LEVEL: 3 }\n",
  );

  expect(converted.jobs).toEqual([
    {
      name: "ci/a",
      commands: ["npm ci", "npm test"],
      environment: { CI: "true", LEVEL: "3" },
      network: true,
      timeout: "7m",
      needs: [],
    },
  ]);
  expect(converted.tools.map(({ program }) => program)).toEqual(["node"]);
  expect(converted.notes).toEqual([
    "ci.yml: jobs use the worker's node, whatever version the workflow names (22)",
  ]);
});

test("a matrix gives one job for each value that a command reads, and none for Windows", () => {
  const converted = convert(
    "on: [push]\njobs:\n  a:\n    runs-on: ${{ matrix.os }}\n    strategy:\n      matrix:\n        os: [ubuntu-latest, windows-latest]\n        node: [20, 22]\n        part: [x, y]\n        exclude: [{ part: z }]\n" +
      "    steps:\n      - uses: actions/setup-node@v4\n        with: { node-version: '${{ matrix.node }}' }\n      - run: ./test ${{ matrix.part }}\n  b:\n    needs: a\n    runs-on: ubuntu-latest\n    steps: [{ run: ./b }]\n",
  );

  expect(converted.jobs.map(({ name, commands, needs }) => [name, commands[0], needs])).toEqual([
    ["ci/a-x", "./test x", []],
    ["ci/a-y", "./test y", []],
    ["ci/b", "./b", ["ci/a-x", "ci/a-y"]],
  ]);
});

test.each([
  [
    "a script for bash",
    "      - run: |\n          if [[ -n $A ]]; then\n            ./b\n          fi\n",
    "bash -e -c 'if [[ -n $A ]]; then\n  ./b\nfi'",
  ],
  [
    "a shell that an expression names",
    "      - run: make\n        shell: ${{ runner.os == 'Linux' && 'sh' || 'cmd' }}\n",
    "sh -e -c 'make'",
  ],
  ["a directory", "      - run: make\n        working-directory: lib\n", "(cd lib && make)"],
  ["variables", "      - run: make\n        env: { A: x y }\n", "env A='x y' bash -e -c 'make'"],
  [
    "a step that may fail",
    "      - run: make\n        continue-on-error: true\n",
    "bash -e -c 'make' || echo \"This step failed; the workflow goes on.\"",
  ],
])("keeps %s", (_, steps, command) => {
  expect(commandsOf(ofSteps(steps))).toEqual([command]);
});

test("packages of Debian are left out, and named for the workers", () => {
  const converted = ofSteps(
    "      - run: sudo apt-get update && sudo apt-get install -y libfoo-dev\n      - run: make\n",
  );

  expect(commandsOf(converted)).toEqual(["make"]);
  expect(converted.notes).toEqual(["ci.yml: install on the workers: libfoo-dev"]);
});

test("what comes after the work is left out and listed: caches, uploads, steps with secrets", () => {
  const converted = ofSteps(
    "      - uses: actions/cache@v4\n      - run: make\n      - uses: codecov/codecov-action@v4\n      - name: Send\n        run: ./send ${{ secrets.TOKEN }}\n",
  );

  expect(commandsOf(converted)).toEqual(["make"]);
  expect(converted.leftOut.map(({ where, reason }) => `${where}: ${reason}`)).toEqual([
    "ci.yml, job a, step 1: actions/cache@v4: not needed: results are cached by their inputs",
    "ci.yml, job a, step 3: codecov/codecov-action@v4: left out: it sends results to another service",
    "ci.yml, job a, step 4 (Send): the expression `secrets.TOKEN` needs secrets.TOKEN",
  ]);
});

test.each([
  [
    "an unknown action before the work",
    "",
    "      - uses: some/thing@v1\n      - run: make\n",
    "some/thing@v1 is not known",
  ],
  ["sudo", "", "      - run: sudo ./setup\n      - run: make\n", "uses sudo"],
  ["the history of Git", "", "      - run: git describe\n", "history of Git"],
  [
    "a variable of several lines for later steps",
    "",
    "      - run: echo 'A<<END' >> $GITHUB_ENV\n      - run: make\n",
    "GITHUB_ENV",
  ],
  [
    "an expression about a variable that a step hands on",
    "    env: { A: 0 }\n",
    "      - run: echo A=1 >> $GITHUB_ENV\n      - run: make ${{ env.A }}\n      - run: make test\n",
    "needs env.A",
  ],
  [
    "an action that is not in the repository",
    "",
    "      - uses: ./.github/actions/setup\n      - run: make\n",
    "it has no action.yml there",
  ],
  [
    "a computed matrix",
    "    strategy: { matrix: '${{ fromJSON(needs.x.outputs.y) }}' }\n",
    "      - run: make\n",
    "matrix is computed",
  ],
  ["PowerShell", "", "      - run: Get-Item\n        shell: pwsh\n", "shell is pwsh"],
  [
    "a branch that must be main",
    "    if: github.ref == 'refs/heads/main'\n",
    "      - run: make\n",
    "needs github.ref",
  ],
])("a job with %s is listed with the reason, and not written", (_, more, steps, reason) => {
  const converted = ofSteps(steps, more);

  expect(converted.jobs).toEqual([]);
  expect(converted.leftOut.map((each) => each.reason).join()).toContain(reason);
});

test("later steps get the variables and directories that a step hands on", () => {
  const commands = commandsOf(
    ofSteps(
      "      - run: |\n          printf 'A=x y\\n\\nB=2' >> $GITHUB_ENV\n          echo /opt/tool >> $GITHUB_PATH\n      - run: echo \"$A $B ${PATH%%:*}\"\n",
    ),
  );

  const script = (commands ?? []).join("\n");
  const directory = mkdtempSync(join(tmpdir(), "grange-handed-on-"));
  try {
    const env = { PATH: "/usr/bin:/bin", TMPDIR: directory };
    const output = execFileSync("/bin/sh", ["-e", "-c", script], { env, encoding: "utf8" });
    expect(output).toBe("x y 2 /opt/tool\n");
  } finally {
    rmSync(directory, { recursive: true });
  }
});

const setup =
  "inputs: { level: { default: low }, part: {} }\nruns:\n  using: composite\n  steps:\n" +
  "    - uses: actions/setup-node@v4\n    - run: ./prepare ${{ inputs.level }} ${{ inputs.part }}\n      shell: bash\n" +
  "    - if: inputs.level == 'high'\n      uses: some/thing@v1\n";

test.each([
  ["./.github/actions/setup", "", ["bash -e -o pipefail -c './prepare low all'", "make"], []],
  [
    "$/.github/actions/setup",
    ", level: high",
    undefined,
    [
      "step 1, $/.github/actions/setup, step 3: some/thing@v1 is not known; put its commands in its place",
    ],
  ],
])(
  "the steps of an action of the repository take the place of %s%s",
  (uses, level, commands, reasons) => {
    const text = `on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: ${uses}\n        with: { part: all${level} }\n      - run: make\n`;
    const actions = new Map([[".github/actions/setup/action.yml", setup]]);

    const converted = convertWorkflows(new Map([["ci.yml", text]]), { actions });

    expect(commandsOf(converted)).toEqual(commands);
    expect(converted.leftOut.map(({ reason }) => reason)).toEqual(reasons);
  },
);

test.each([
  ["once", 1, "calls more than 10 actions"],
  ["twice", 2, "its actions have more than 500 steps"],
])("an action that calls itself %s is listed with the reason", (_, times, reason) => {
  const uses = "./.github/actions/setup";
  const calls = Array.from({ length: times }, () => `{ uses: ${uses} }`).join(", ");
  const action = `runs: { using: composite, steps: [${calls}] }`;
  const actions = new Map([[".github/actions/setup/action.yml", action]]);
  const text = `on: push\njobs: { a: { steps: [{ uses: ${uses} }, { run: make }] } }`;

  const converted = convertWorkflows(new Map([["ci.yml", text]]), { actions });

  expect(converted.jobs).toEqual([]);
  expect(converted.leftOut[0]?.reason).toContain(reason);
});

test("a condition about the repository's name holds in that repository", () => {
  const text =
    "on: push\njobs: { a: { if: github.repository_owner == 'me', steps: [{ run: make }] } }\n";
  const convertIn = (repository: string) =>
    convertWorkflows(new Map([["ci.yml", text]]), { actions: new Map(), repository });

  expect(convertIn("me/tool").jobs.map(({ name }) => name)).toEqual(["ci/a"]);
  expect(convertIn("you/tool").leftOut.map(({ reason }) => reason)).toEqual([
    "its condition does not hold for a commit: github.repository_owner == 'me'",
  ]);
});

test.each([
  ["''", ["make"]],
  ["me/tool", ["make"]],
  ["you/other", undefined],
])("a checkout of the repository %s", (repository, commands) => {
  const text = `on: push\njobs: { a: { steps: [{ uses: actions/checkout@v4, with: { repository: ${repository} } }, { run: make }] } }\n`;

  const converted = convertWorkflows(new Map([["ci.yml", text]]), {
    actions: new Map(),
    repository: "me/tool",
  });

  expect(commandsOf(converted)).toEqual(commands);
});

test("notes about the same thing are one line", () => {
  const job = (name: string, version: number) =>
    `  ${name}:\n    steps:\n      - uses: actions/setup-node@v4\n        with: { node-version: ${version} }\n      - run: sudo apt-get install -y lib${name}-dev shared-dev\n      - run: make\n`;
  const text = `on: push\njobs:\n${job("a", 20)}${job("b", 22)}`;

  expect(
    convertWorkflows(
      new Map([
        ["a.yml", text],
        ["b.yml", text],
      ]),
    ).notes,
  ).toEqual([
    "a.yml, b.yml: jobs use the worker's node, whatever version the workflow names (20, 22)",
    "a.yml, b.yml: install on the workers: liba-dev shared-dev libb-dev",
  ]);
});

test("a reusable workflow that is called is listed", () => {
  const converted = convert("on: push\njobs:\n  a:\n    uses: ./.github/workflows/b.yml\n");

  expect(converted.leftOut[0]?.reason).toContain("reusable workflow ./.github/workflows/b.yml");
});

test.each([
  ["on a schedule only", "on: { schedule: [] }\njobs: {}\n", "runs on schedule"],
  ["that is no YAML", "on: [\n", "is no YAML"],
  ["of another form", "on: push\njobs: [1]\n", "unexpected form at jobs"],
  ["that is huge", `# ${"x".repeat(600_000)}`, "is larger than"],
  [
    "whose aliases multiply",
    `a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\non: push\njobs: {}\n`,
    "is no YAML",
  ],
])("a workflow %s is listed", (_, text, reason) => {
  const converted = convert(text);

  expect(converted.jobs).toEqual([]);
  expect(converted.leftOut[0]?.reason).toContain(reason);
});
