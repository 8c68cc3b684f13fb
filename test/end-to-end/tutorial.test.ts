import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Farm, grange, startFarm } from "../support/farm.ts";
import { runProgram } from "../support/process.ts";

let farm: Farm;
let directory: string;

beforeAll(async () => {
  [farm, directory] = await Promise.all([startFarm(), mkdtemp(join(tmpdir(), "grange-tutorial-"))]);
  const program = join(directory, "grange");
  await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${grange}" "$@"\n`);
  await chmod(program, 0o755);
});
afterAll(async () => {
  await farm.stop();
  await rm(directory, { recursive: true });
});

const doc = await readFile(join(import.meta.dirname, "../../docs/tutorial.md"), "utf8");
/** The blocks of commands, except `grange up`: the test has a farm already. */
const blocks = Array.from(doc.matchAll(/^```sh\n([^]*?)^```/gm), ([, text = ""]) => text).filter(
  (text) => text !== "grange up\n",
);

/** What the document shows below the blocks from the second one on, as lines. */
const shown = Array.from(doc.matchAll(/^```text\n([^]*?)^```/gm), ([, text = ""]) =>
  text.trimEnd().split("\n"),
);

/** Times and ids differ from run to run. */
const masked = (line: string) =>
  line.replaceAll(/[\d.]+ (?:ms|s)\b/g, "TIME").replaceAll(/\b[0-9a-f]{10}\b/g, "ID");

/** Runs one block in the directory that the first one made. */
function run(block: string, cwd: string) {
  return runProgram("bash", ["-c", `set -e\n${block}`], {
    cwd,
    env: {
      PATH: `${directory}:${process.env["PATH"]}`,
      GRANGE_SERVER: farm.url,
      GIT_AUTHOR_NAME: "A",
      GIT_AUTHOR_EMAIL: "a@example.org",
      GIT_COMMITTER_NAME: "A",
      GIT_COMMITTER_EMAIL: "a@example.org",
    },
  });
}

test("the commands of the tutorial do what it says", async () => {
  const [make = "", again = "", change = "", broken = "", look = "", bisect = ""] = blocks;
  const hello = join(directory, "hello");

  const made = await run(make, directory);
  // `grange up` runs the graph of the commit, too.
  await run("grange submit --wait", hello);
  const first = await run(again, hello);
  const second = await run(change, hello);
  const third = await run(broken, hello);
  const looked = await run(look, hello);
  const found = await run(bisect, hello);

  expect([made, first, second].map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual([
    0, 0, 0,
  ]);
  expect(third.code).toBe(1);
  expect(looked).toMatchObject({ code: 0, stdout: expect.stringContaining("error - no greeting") });
  const { stdout: head } = await run("git rev-parse HEAD", hello);
  expect(found.stdout).toContain(`${head.slice(0, 10)} is the first bad commit`);
  expect(shown).toHaveLength(5);
  for (const [index, { stdout, stderr }] of [first, second, third, looked, found].entries()) {
    const printed = `${stdout}\n${stderr}`.split("\n").map(masked);
    expect(printed).toEqual(expect.arrayContaining((shown[index] ?? []).map(masked)));
  }
});
