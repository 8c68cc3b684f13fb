import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { lockingMachine } from "../../test/support/needs/machine-needs.ts";
import { needs } from "../../test/support/needs/needs.ts";
import { flockProgram } from "./flock-program.ts";
import { lockOpenFile } from "./lock-open-file.ts";

const dir = mkdtempSync(join(tmpdir(), "grange-flock-test-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test(
  "one of two processes that opened a file has its lock until it closes the file",
  needs(lockingMachine),
  async () => {
    const path = join(dir, "a");
    const [first, second] = [openSync(path, "w"), openSync(path, "w")];

    expect(await lockOpenFile(first)).toBe("locked");
    expect(await lockOpenFile(second)).toBe("held");

    closeSync(first);
    expect(await lockOpenFile(second)).toBe("locked");
    closeSync(second);
  },
);

test(
  "a process that inherited the open file keeps the lock after the first process ends",
  needs(lockingMachine),
  async () => {
    const path = join(dir, "b");
    const first = openSync(path, "w");
    expect(await lockOpenFile(first)).toBe("locked");
    const heir = spawn("sleep", ["600"], { stdio: ["ignore", "ignore", "ignore", first] });
    await once(heir, "spawn");
    closeSync(first);
    const second = openSync(path, "w");

    expect(await lockOpenFile(second)).toBe("held");

    heir.kill("SIGKILL");
    await once(heir, "exit");
    expect(await lockOpenFile(second)).toBe("locked");
    closeSync(second);
  },
);

test("of many simultaneous processes, one has the lock", needs(lockingMachine), async () => {
  const path = join(dir, "c");
  const files = Array.from({ length: 12 }, () => openSync(path, "w"));

  const all = await Promise.all(files.map((file) => lockOpenFile(file)));

  expect(all.filter((each) => each === "locked")).toHaveLength(1);
  expect(all.filter((each) => each === "held")).toHaveLength(11);
  for (const file of files) closeSync(file);
});

test.each([
  { architecture: "x64", machine: 62, lastInstruction: "0f05" },
  { architecture: "arm64", machine: 183, lastInstruction: "010000d4" },
])("the file for $architecture ends with the request to exit", (expected) => {
  const program = flockProgram(expected.architecture) ?? Buffer.alloc(0);

  expect(program.subarray(0, 4).toString("latin1")).toBe("\x7fELF");
  expect(program.readUInt16LE(18)).toBe(expected.machine);
  expect(program.readBigUInt64LE(96)).toBe(BigInt(program.length));
  expect(program.toString("hex").endsWith(expected.lastInstruction)).toBe(true);
});

test("an unknown architecture has no program", () => {
  expect(flockProgram("s390x")).toBeUndefined();
});
