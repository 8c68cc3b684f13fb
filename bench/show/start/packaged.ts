import { atMost, type Measurement } from "../row.ts";
import { lastTexts } from "./clone-and-start.ts";
import { onEmptyMachine } from "./empty-machine.ts";

/** A small repository of a user without knowledge of Grange. */
const makeRepository = [
  "mkdir stranger && cd stranger && git init -q -b main",
  "git config user.name Somebody && git config user.email somebody@example.org",
  `printf '%s' '{"name":"stranger","version":"1.0.0","scripts":{"test":"node --test"}}' > package.json`,
  'printf \'%s\' \'require("node:test")("adds", () => require("node:assert").equal(1 + 1, 2));\' > add.test.js',
  "git add . && git commit -q -m 'A first test'",
].join(" && ");

/** The package, as used without a checkout of Grange. */
export const packaged: Measurement = {
  title: "package on an empty machine",
  long: true,
  async measure() {
    const run = await onEmptyMachine({
      checkout: process.cwd(),
      user: "ordinary",
      packages: [],
      command: [
        "set -e",
        "git clone -q origin.git project && cd project && npm ci --no-audit --no-fund --loglevel=error",
        "npm pack --silent && mv grange-*.tgz .. && cd .. && rm -rf project ~/.npm",
        makeRepository,
        "export PATH=$HOME/.local/bin:$PATH",
        "echo packed",
        "npm install --silent -g --prefix ~/.local ~/grange-*.tgz",
        "grange init && git add .grange && git commit -q -m 'Describe our jobs'",
        "grange up --once",
      ].join("; "),
      timeoutMs: 10 * 60_000,
    });
    const packedMs = run.lines.find(({ text }) => text === "packed")?.ms ?? Infinity;
    const seconds = run.exitCode === 0 ? (run.ms - packedMs) / 1_000 : Infinity;
    const how =
      "npm i -g of the package; grange init; grange up --once in a repository with one test";
    const failure = run.exitCode === 0 ? "" : `; it failed: ${lastTexts(run.lines, 3)}`;
    return [atMost("package installed → stranger's graph green", seconds, 60, "s", how + failure)];
  },
};
