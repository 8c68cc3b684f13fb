import { afterAll, beforeEach, expect, test } from "vitest";
import { freshDb } from "../../test/support/fresh-db.ts";
import { type AdminServices, addRepository, lookNow } from "./forge-admin.ts";
import { memoryForge } from "./memory-forge.fixture.ts";
import { findWatchedAt } from "./repository.store.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() => db.script("truncate forge_repository cascade"));

const admin: AdminServices = {
  db,
  clock: { now: () => new Date("2026-01-01T00:00:00Z") },
  forges: [
    {
      ...memoryForge(),
      kind: "git",
      storedSlug: (written) => written,
      fetchAddress: async (slug) => slug,
    },
    { ...memoryForge(), fetchAddress: async (slug) => `https://github.com/${slug}.git` },
  ],
  nameRepository: async (url) => url,
  sealWay: (_, address) => ({ keyId: "k", sealed: new Uint8Array(Buffer.from(address)) }),
  record: async () => {},
};
const add = (kind: "git" | "github", slug: string) =>
  addRepository(admin, { kind, slug, policy: {}, by: "ada" });

test.each([
  "https://github.com/Owner/Name",
  "git@github.com:owner/name.git",
  "ssh://git@github.com/owner/name",
  "https://somebody:token@github.com/owner/name/",
])(
  "a repository at GitHub is watched once, and found by all its addresses: %s",
  async (address) => {
    const { name } = await add("github", "owner/name");

    await expect(add("git", address)).rejects.toMatchObject({ code: "already_exists" });
    expect(await findWatchedAt(db, address)).toMatchObject({ name });
    expect(await lookNow(admin, address)).toMatchObject({ name });
  },
);

test("also when the plain Git repository was watched first", async () => {
  await add("git", "git@github.com:owner/name.git");

  await expect(add("github", "Owner/Name")).rejects.toMatchObject({ code: "already_exists" });
});

test("a similar address belongs to another repository", async () => {
  await add("github", "owner/name");

  await add("git", "https://github.com.evil.example/owner/name");
  expect(await findWatchedAt(db, "https://github.com@evil.example/owner/name")).toBeUndefined();
});
