import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { openBlobStorage } from "#cas/open-blob-storage.ts";
import { systemClock } from "#core/clock.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { claimStore } from "./claim-store.ts";

const db = await freshDb();
const top = await mkdtemp(join(tmpdir(), "grange-stores-"));
afterAll(async () => {
  await db.close();
  await rm(top, { recursive: true });
});
beforeEach(() => db.run(sql`delete from farm`));

async function newDirectory() {
  return mkdtemp(join(top, "store-"));
}

async function claim(directory: string, options: { adopt?: boolean; isAlone?: boolean } = {}) {
  const storage = await openBlobStorage({ kind: "disk", directory });
  const { adopt = false, isAlone = false } = options;
  return claimStore(storage, { db, clock: systemClock, place: directory, adopt, isAlone });
}

test("the first store becomes the farm's, and stays so over restarts", async () => {
  const store = await newDirectory();

  const farm = await claim(store);

  expect(await readFile(join(store, "farm-id"), "utf8")).toBe(`${farm}\n`);
  expect(await claim(store)).toBe(farm);
});

test("of servers that start at once with stores of their own, one has the farm's; those that share one all start", async () => {
  const [first, second] = [await newDirectory(), await newDirectory()];

  const apart = await Promise.allSettled([claim(first), claim(second)]);

  expect(apart.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  const farms = apart.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const held = apart[0]?.status === "fulfilled" ? first : second;
  const shared = await Promise.all([claim(held), claim(held), claim(held)]);
  expect(new Set([...shared, ...farms]).size).toBe(1);
});

test("another store is refused with what to do, and becomes the farm's when the operator says so", async () => {
  const farm = await claim(await newDirectory());
  const other = await newDirectory();

  const refused = claim(other);

  await expect(refused).rejects.toMatchObject({
    code: "failed_precondition",
    message: expect.stringMatching(/All servers of a farm share one store.*--blobs.*--adopt-store/),
  });
  expect(await claim(other, { adopt: true })).toBe(farm);
  expect(await claim(other)).toBe(farm);
});

test("a store of another farm is refused by name, also by a new database", async () => {
  const store = await newDirectory();
  const earlier = await claim(store);
  await db.run(sql`delete from farm`);

  await expect(claim(store, { isAlone: true })).rejects.toThrow(
    `belong to another farm (${earlier})`,
  );
  const later = await claim(store, { isAlone: true, adopt: true });
  expect(later).not.toBe(earlier);
});

test("a server that died between the two writes does not keep the next from starting", async () => {
  const store = await newDirectory();
  const farm = await claim(store);

  await db.run(sql`update farm set store_claimed_at = null`);

  expect(await claim(store)).toBe(farm);
  await expect(claim(await newDirectory())).rejects.toThrow("blobs are elsewhere");
});

test("a file that holds no id stops the start, and is named", async () => {
  const store = await newDirectory();
  await writeFile(join(store, "farm-id"), "\0");

  await expect(claim(store)).rejects.toThrow(join(store, "farm-id"));
});
