import { afterAll, describe, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { diffCatalogs } from "./diff-catalogs.ts";
import { farmOfCatalogs, switched } from "./farm-of-catalogs.fixture.ts";

const db = await freshDb();
const farm = await farmOfCatalogs(db);
const { repository, rooms, push, nameOfRepository } = farm;
afterAll(async () => {
  await farm.stop();
  await db.close();
});

describe("what differs between two catalogs", () => {
  test("is told by job, edge and switch", async () => {
    const a = await push({
      "a.yml":
        "version: 1\nswitches: {pgo: }\njobs:\n  build: {commands: make}\n  unit: {commands: test, needs: [build], timeout: 5m}\n  old: {commands: x}\n",
    });
    const b = await push({
      "a.yml":
        "version: 1\nswitches: {pgo: {default: true}}\njobs:\n  build: {commands: make}\n  unit: {commands: test, needs: {build: {on: end}}, timeout: 9m}\n  new: {commands: x, needs: [build]}\n",
    });

    const diff = await diffCatalogs(rooms, a.digest.slice(0, 12), b.digest, undefined);

    expect(diff).toMatchObject({
      same: false,
      jobs: { added: ["new"], removed: ["old"] },
      switches: { changed: [{ name: "pgo", parts: [{ path: "default", after: true }] }] },
      edges: [
        { job: "new", on: "build", before: null, after: "success" },
        { job: "unit", on: "build", before: "success", after: "end" },
      ],
    });
    expect(diff.jobs.changed).toEqual([
      {
        name: "unit",
        parts: [
          { path: "needs", before: ["build"], after: { build: { on: "end" } } },
          { path: "timeout", before: "5m", after: "9m" },
        ],
      },
    ]);
  });

  test("between a branch and a revision is that of their definitions", async () => {
    repository.write({ ".grange/farm.yml": switched });
    repository.commit("as before");
    const name = await nameOfRepository();
    await farm.submit({ rev: "main" });
    repository.git("checkout", "--quiet", "-b", "work");
    repository.write({
      ".grange/farm.yml": switched.replace("commands: lint", "commands: lint -v"),
    });
    const sha = repository.commit("louder");
    repository.git("checkout", "--quiet", "main");

    const diff = await diffCatalogs(rooms, "main", sha, name);

    expect(diff).toMatchObject({
      a: { branch: "main" },
      b: { branch: null },
      jobs: {
        changed: [
          { name: "lint", parts: [{ path: "commands", before: "lint", after: "lint -v" }] },
        ],
      },
      edges: [],
    });
    expect((await diffCatalogs(rooms, "main", "main", name)).same).toBe(true);
  });
});
