import { existsSync } from "node:fs";
import { mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { linkCluster, removeWithCluster } from "./prepared-cluster.ts";

test("a data directory keeps its linked cluster when a test is tried again, and is removed with it", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "grange-link-"));
  await linkCluster(dataDir);
  const files = await realpath(join(dataDir, "pgdata"));
  await linkCluster(dataDir);
  expect(await realpath(join(dataDir, "pgdata"))).toBe(files);
  expect(existsSync(join(files, "PG_VERSION"))).toBe(true);

  await removeWithCluster(dataDir);
  expect([dataDir, files].filter((each) => existsSync(each))).toEqual([]);
});
