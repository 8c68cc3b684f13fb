import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openDataDirectory } from "./data-directory.ts";

const dir = await mkdtemp(join(tmpdir(), "grange-data-"));
afterAll(() => rm(dir, { recursive: true, force: true }));

test("a second server on one data directory is refused, and told who holds it", async () => {
  const first = await openDataDirectory(join(dir, "a"));

  await expect(openDataDirectory(join(dir, "a"))).rejects.toThrow(
    new RegExp(`\\(process ${process.pid}\\) has worked in .* since .*GRANGE_DATA`),
  );

  await first.release();
  await (await openDataDirectory(join(dir, "a"))).release();
});

test("a directory that cannot be written is told with a way out", async () => {
  await writeFile(join(dir, "file"), "");
  await chmod(join(dir, "file"), 0o400);

  await expect(openDataDirectory(join(dir, "file", "data"))).rejects.toThrow(
    /cannot write to the data directory .*GRANGE_DATA/,
  );
});
