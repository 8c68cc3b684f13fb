import { randomBytes } from "node:crypto";
import { rename } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Db } from "#db/db.ts";
import { openPostgres } from "#db/postgres.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { type ServedCaches, send, serveCaches } from "./caches.fixture.ts";

const url = await freshDatabase();
let db: Db;
let served: ServedCaches;
const value = randomBytes(600_000);

beforeEach(async () => {
  db = openPostgres({ url });
  served = await serveCaches(db);
});
afterEach(async () => {
  await served.stop();
  await db.close().catch(() => {});
});

async function statuses(key: string): Promise<readonly number[]> {
  const all = [];
  for (const path of [`/cache/p/nx/v1/cache/${key}`, `/cache/p/gradle/${key}`]) {
    all.push((await send(served.url, "GET", path)).status);
    all.push((await send(served.url, "PUT", path, { body: randomBytes(600_000) })).status);
  }
  return all;
}

test("without its database Nx finds nothing and may not write, and others hear that it is us", async () => {
  await send(served.url, "PUT", "/cache/p/nx/v1/cache/lost", { body: value });
  await db.close();

  const [read, write, ...others] = await statuses("lost");

  expect([read, write]).toEqual([404, 403]);
  for (const status of others) expect(status).toBeGreaterThanOrEqual(500);
});

test("without its disk Nx finds nothing and may not write; with it again all is there", async () => {
  await send(served.url, "PUT", "/cache/p/nx/v1/cache/kept", { body: value });
  const away = `${served.directory}-away`;
  await rename(served.directory, away);

  const [, write] = await statuses("another");
  const read = await send(served.url, "HEAD", "/cache/p/nx/v1/cache/kept");
  await rename(away, served.directory);

  expect([read.status, write]).toEqual([404, 403]);
});
