import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { needs } from "../../test/support/needs/needs.ts";
import { programs } from "../../test/support/needs/program.ts";
import { spawnWithPipes } from "./spawn-with-pipes.ts";

const prlimit = programs("prlimit", { programs: ["prlimit"], packages: ["util-linux"] });

/** Takes away its own file handles, tries to start a program, and says that it is still there afterwards. */
const starved = `
  import { execFileSync } from "node:child_process";
  import { spawnWithPipes } from ${JSON.stringify(join(import.meta.dirname, "spawn-with-pipes.ts"))};
  execFileSync("prlimit", ["--pid", String(process.pid), "--nofile=3:"]);
  try {
    spawnWithPipes("true", []);
  } catch (reason) {
    process.stdout.write(reason.code + " ");
  }
  setTimeout(() => process.stdout.write("alive"), 50);
`;

test(
  "a process without file handles learns that it cannot start a program, and lives on",
  needs(prlimit),
  async () => {
    const args = ["--import", "tsx", "--input-type=module", "--eval", starved];

    const { stdout } = await promisify(execFile)(process.execPath, args);

    expect(stdout).toBe("unavailable alive");
  },
);

test("a program gets its input and gives its output", async () => {
  const child = spawnWithPipes("cat", []);
  child.stdin.end("hello");

  const parts: Buffer[] = [];
  for await (const part of child.stdout) parts.push(part as Buffer);

  expect(Buffer.concat(parts).toString()).toBe("hello");
});
