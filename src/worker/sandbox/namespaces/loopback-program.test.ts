import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Need, needs } from "../../../../test/support/needs/needs.ts";
import { loopbackProgram } from "./loopback-program.ts";

const unshare = ["unshare", "--user", "--map-root-user", "--net"] as const;
const canMakeNetworks = spawnSync(unshare[0], [...unshare.slice(1), "true"]).status === 0;

const program = loopbackProgram(process.arch);
const architecture: Need = {
  name: "an architecture with a loopback program",
  missing: program === undefined ? `this is ${process.arch}` : undefined,
  remedy: { kind: "machine" },
};
const networkNamespace: Need = {
  name: "a network namespace",
  missing: canMakeNetworks ? undefined : "this user may make none",
  remedy: { kind: "root" },
};

test(
  "the program activates the loopback of a new network namespace",
  needs(architecture, networkNamespace),
  () => {
    const directory = mkdtempSync(join(tmpdir(), "grange-loopback-"));
    try {
      const path = join(directory, "loopback-up");
      writeFileSync(path, program ?? "", { mode: 0o755 });
      const script =
        'cat /proc/net/fib_trie; echo then; "$1"; echo "exit $?"; cat /proc/net/fib_trie';

      const { stdout } = spawnSync(
        unshare[0],
        [...unshare.slice(1), "sh", "-c", script, "sh", path],
        {
          encoding: "utf8",
        },
      );

      const [before, after] = stdout.split("then\n");
      expect(before).not.toContain("127.0.0.1");
      expect(after).toContain("exit 0\n");
      expect(after).toContain("127.0.0.1");
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
);

test.each([
  { architecture: "x64", machine: 62, lastInstruction: "0f05" },
  { architecture: "arm64", machine: 183, lastInstruction: "010000d4" },
])("the file for $architecture is one loadable segment that ends with the request", (expected) => {
  const program = loopbackProgram(expected.architecture) ?? Buffer.alloc(0);

  expect(program.subarray(0, 4).toString("latin1")).toBe("\x7fELF");
  expect(program.readUInt16LE(18)).toBe(expected.machine);
  expect(program.readBigUInt64LE(96)).toBe(BigInt(program.length));
  const code = program.subarray(0, -40).toString("hex");
  expect(code.endsWith(expected.lastInstruction)).toBe(true);
  expect(program.subarray(-40, -37).toString("latin1")).toBe("lo\0");
});

test("an unknown architecture has no program", () => {
  expect(loopbackProgram("s390x")).toBeUndefined();
});
