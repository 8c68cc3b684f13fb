import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const folder = mkdtempSync(join(tmpdir(), "concordance-"));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, "text.txt");
writeFileSync(file, "salt and flour and water\n");

function run(...args) {
  return spawnSync(process.execPath, ["js/main.mjs", ...args], { encoding: "utf8" });
}

test("the command prints the concordance of a file", () => {
  const { status, stdout } = run(file);
  assert.equal(status, 0);
  assert.match(stdout, /^and +2 +1$/m);
});

test("a format that does not exist ends with 2, and those that do are named", () => {
  const { status, stderr } = run("--format", "pdf", file);
  assert.equal(status, 2);
  assert.match(stderr, /text\|html/);
});
