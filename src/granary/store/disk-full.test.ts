import { spawnSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { needs } from "../../../test/support/needs/needs.ts";
import { smallDisk } from "../../../test/support/small-disk.ts";
import { bundleScript } from "./bundled-script.fixture.ts";
import { freshDirectory } from "./granary-store.fixture.ts";

/** Returns what a script prints; its argument is a directory on a disk of 4 MB. */
async function onSmallDisk(script: string): Promise<unknown> {
  const root = await freshDirectory();
  const file = await bundleScript(script, root);
  const disk = join(root, "disk");
  await mkdir(disk);
  const mount = 'mount -t tmpfs -o size=4m tmpfs "$1" && exec "$0" "$2" "$1"';
  const ran = spawnSync("unshare", ["--mount", "sh", "-c", mount, process.execPath, disk, file], {
    encoding: "utf8",
    timeout: 120_000,
  });
  expect(ran.stderr).toBe("");
  return JSON.parse(ran.stdout);
}

/** Stores 100 results of 200 kB on a disk of 4 MB; then the same while nothing may be trimmed. */
const script = `
  import { randomBytes } from "node:crypto";
  import { pino } from "pino";
  import { digestOf } from "#cas/digest-of.ts";
  import { openGranaryStore } from "./open-granary-store.ts";

  let isHeld = false;
  const directory = process.argv[2] ?? "";
  const store = await openGranaryStore({
    directory, limitBytes: 1e9, logger: pino({ level: "silent" }), isHeld: () => isHeld,
  });
  async function keep(i: number) {
    const bytes = randomBytes(200_000);
    const value = digestOf(bytes);
    try {
      if (i % 2) await store.blobs.put(value, bytes);
      else await store.blobs.write(value, (async function* () { yield bytes; })());
      await store.keep({ project: "p", namespace: "ccache", key: "k" + i, value, blobs: [], attributes: {}, costMs: undefined });
      return "kept";
    } catch (reason) {
      return (reason as { code?: string }).code ?? String(reason);
    }
  }
  async function round(from: number) {
    const ends: Record<string, number> = {};
    for (let i = from; i < from + 100; i++) {
      const end = await keep(i);
      ends[end] = (ends[end] ?? 0) + 1;
    }
    let found = 0;
    for (let i = 0; i < from + 100; i++) {
      const result = await store.find("p", { namespace: "ccache", key: "k" + i });
      if (result && (await store.blobs.get(result.value))?.length === 200_000) found++;
      else if (result) ends.broken = (ends.broken ?? 0) + 1;
    }
    return { ends, found };
  }
  const free = await round(0);
  isHeld = true;
  const held = await round(100);
  await store.stop();
  process.stdout.write(JSON.stringify({ free, held }));
`;

/** Removes a result when there is no space to record that, and opens the pack again. */
const removing = `
  import { rmSync, writeFileSync } from "node:fs";
  import { join } from "node:path";
  import { openPack } from "./pack.ts";

  const directory = process.argv[2] ?? "";
  const filler = join(directory, "filler");
  const open = () => openPack({ directory: join(directory, "packs"), limitBytes: 1e9, now: () => new Date() });
  const name = "a".repeat(64);
  const pack = await open();
  // The size with which a record ends at the end of a block.
  pack.put("result", name, Buffer.alloc(4096 - 84));
  try {
    writeFileSync(filler, Buffer.alloc(8e6));
  } catch {}
  pack.remove("result", name);
  const whileFull = await pack.sync().then(() => "synced", (reason) => reason.code);
  rmSync(filler);
  pack.put("result", "b".repeat(64), Buffer.from("another"));
  pack.close();
  const isBack = (await open()).has("result", name);
  process.stdout.write(JSON.stringify({ whileFull, isBack }));
`;

test("a result that was removed on a full disk stays removed", needs(smallDisk), async () => {
  expect(await onSmallDisk(removing)).toEqual({ whileFull: "ENOSPC", isBack: false });
});

test(
  "a full disk removes old results; when none may be removed, the new one is not stored, and this is reported",
  needs(smallDisk),
  async () => {
    const { free, held } = (await onSmallDisk(script)) as {
      free: { ends: Record<string, number>; found: number };
      held: { ends: Record<string, number>; found: number };
    };
    // A blob in chunks cannot be requested again: it is lost when it triggered the removal.
    expect(free.ends["kept"]).toBeGreaterThan(60);
    expect(
      Object.keys(free.ends).every((end) => ["kept", "resource_exhausted"].includes(end)),
    ).toBe(true);
    expect(free.found).toBeGreaterThan(10);
    expect(held.ends["resource_exhausted"]).toBeGreaterThan(90);
    expect(held.ends["broken"]).toBeUndefined();
    expect(held.found).toBeGreaterThanOrEqual(free.found);
  },
);
