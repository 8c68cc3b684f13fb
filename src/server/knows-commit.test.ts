import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openMirrors } from "#git/fetch-commit.ts";
import { testRepository } from "#git/repository.fixture.ts";
import { openGit } from "#git/run-git.ts";
import { nameRepository } from "#graphs/repository.store.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { knowsCommit } from "./knows-commit.ts";

const root = mkdtempSync(join(tmpdir(), "grange-knows-"));
const git = await openGit(join(root, "git"));
const db = await freshDb();
afterAll(async () => {
  await git.stop();
  await db.close();
  await rm(root, { recursive: true });
});

const repository = testRepository(root);
const first = repository.commit("first");
const second = repository.commit("second");
const name = await db.transaction((tx) => nameRepository(tx, repository.path));
const mirrors = openMirrors({ git, directory: join(root, "mirrors"), workingDirectory: root });
/** Creates independent servers; each has its own memory. */
const server = () => knowsCommit({ db, mirrors }, 3);
const madeUp = (n: number) => n.toString(16).padStart(40, "0");

test("who asks for commits that are not there uses up no other's fetches, on whatever server", async () => {
  const [one, other] = [server(), server()];
  for (const n of [1, 2, 3]) expect(await one(name, madeUp(n), "hostile")).toBe("unknown");

  await expect(one(name, madeUp(4), "hostile")).rejects.toMatchObject({
    code: "resource_exhausted",
  });
  await expect(other(name, madeUp(5), "hostile")).rejects.toMatchObject({
    code: "resource_exhausted",
  });

  expect(await one(name, second, "honest")).toBe("known");
  // A commit that is in the mirror by now costs no caller a fetch: a fresh server looks into the mirror.
  for (const sha of [second, first]) expect(await server()(name, sha, "hostile")).toBe("known");
});

test("of a repository that the farm does not know it asks nobody", async () => {
  expect(await server()("another", first, "hostile")).toBe("no such repository");
});
