import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faultyDisk, faultyDiskNeeds, mountNamespace } from "../support/faulty-disk.ts";
import { needs } from "../support/needs/needs.ts";
import { losePower } from "./power-loss.ts";

/** A new one for each run: a failure prints it. */
const seed = Math.floor(Math.random() * 2 ** 31);

test(
  `after power failures a farm with durable blobs has all that it acknowledged (seed ${seed})`,
  needs(...faultyDiskNeeds()),
  async () => {
    const { violations, uploads, graphs } = await losePower({ losses: 4, seed });

    expect(violations).toEqual([]);
    expect(graphs).toBeGreaterThan(0);
    expect(uploads).toBeGreaterThan(0);
  },
);

test(
  "the disk of these tests forgets what was not synced, and keeps what was",
  needs(...faultyDiskNeeds()),
  async () => {
    const top = await mkdtemp(join(tmpdir(), "grange-forgetting-"));
    const namespace = await mountNamespace();
    const disk = await faultyDisk(namespace, join(top, "disk"), 16);
    const seen = (name: string) => namespace.outside(join(top, "disk", name));
    try {
      await writeFile(seen("synced"), "first", { flush: true });
      await appendFile(seen("synced"), ", second");
      await writeFile(seen("unsynced"), "first");

      await disk.fail();
      await expect(readFile(seen("synced"))).rejects.toThrow(/EIO/);
      await disk.unmount();
      await disk.mount();

      expect(await readFile(seen("synced"), "utf8")).toBe("first");
      expect(await readFile(seen("unsynced"), "utf8").catch(() => "")).toBe("");
    } finally {
      await disk.remove();
      await namespace.remove();
      await rm(top, { recursive: true, force: true });
    }
  },
);
