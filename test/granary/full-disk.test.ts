import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { grange } from "../support/farm.ts";
import { needs } from "../support/needs/needs.ts";
import { runProgram } from "../support/process.ts";
import { sampleRepository } from "../support/sample-repository.ts";
import { smallDisk } from "../support/small-disk.ts";

/** A build tool: it requests each source from its cache, and stores its results of 300 kB each. */
const tool = `
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
const cache = process.env.CCACHE_REMOTE_STORAGE;
let made = 0;
for (const name of readdirSync("src").sort()) {
  const key = createHash("sha256").update(readFileSync("src/" + name)).digest("hex").slice(0, 40);
  const address = cache && cache.split("|")[0] + "/" + key.slice(0, 2) + "/" + key.slice(2);
  const found = address && (await fetch(address));
  await found?.arrayBuffer();
  if (found?.status === 200) continue;
  made += 1;
  if (address) await fetch(address, { method: "PUT", body: Buffer.alloc(300_000, key) });
}
console.log("made " + made);
`;

/** Runs on a disk of 4 MiB that only this script and its granary see. */
const script = `
set -e
mount -t tmpfs -o size=4m tmpfs "$DISK"
build() { "$NODE" "$GRANGE" exec -- "$NODE" tool.mjs 2>&1; }
build
dd if=/dev/zero of="$DISK/filler" bs=4k 2>/dev/null || true
echo new > src/d
build
"$NODE" "$GRANGE" granary status
"$NODE" "$GRANGE" granary stop
`;

test("a full disk is reported, and existing results are served", {
  ...needs(smallDisk),
}, async () => {
  const directory = await mkdtemp(join(tmpdir(), "grange-full-"));
  const sources = { "src/a": "a", "src/b": "b", "src/c": "c" };
  const repository = await sampleRepository({ "tool.mjs": tool, ...sources });
  onTestFinished(async () => {
    await repository.remove();
    await rm(directory, { recursive: true, force: true });
  });
  const disk = join(directory, "disk");
  await mkdir(disk);
  await writeFile(join(directory, "script"), script);

  const ran = await runProgram("unshare", ["--mount", "sh", join(directory, "script")], {
    cwd: repository.path,
    env: {
      DISK: disk,
      NODE: process.execPath,
      GRANGE: grange,
      GRANGE_SERVER: "",
      XDG_RUNTIME_DIR: "",
      GRANGE_GRANARY_DATA: join(disk, "granary"),
      GRANGE_GRANARY_SOCKET: join(directory, "socket"),
      HOME: directory,
    },
  });

  expect(ran).toMatchObject({ code: 0, stderr: "" });
  const [first, second] = ran.stdout.split(/^(?=made)/m).slice(1);
  expect(first).toMatch(/^made 3\n/);
  expect(second).toMatch(/^made 1\n/);
  expect(second).toContain("4 results: 3 here before they were requested, 1 made");
  expect(second).toMatch(/the granary's disk: 1 write failed.* \(see `grange granary status`/);
  expect(second).toMatch(/disk: 1 write failed.* since the granary was started, .*: no space /);
});
