import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { testRepository } from "#git/repository.fixture.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { farmOfCatalogs } from "./farm-of-catalogs.fixture.ts";

const db = await freshDb();
const farm = await farmOfCatalogs(db);
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const everywhere = { repository: "*", branch: "*", priorityCap: null, top: false };

describe("definitions from elsewhere", () => {
  test("are those of another repository at a revision", async () => {
    const other = testRepository();
    other.write({ ".grange/a.yml": "version: 1\njobs: {elsewhere: {commands: x}}\n" });
    const rev = other.commit("Define a job");
    other.write({ ".grange/a.yml": "version: 1\njobs: {later: {commands: x}}\n" });
    other.commit("Define another");

    const { id } = await farm.submit({
      definitionsFrom: { kind: "repository", repository: other.path, rev },
    });

    expect(Object.keys(await farm.states(id))).toEqual(["elsewhere"]);
    rmSync(other.path, { recursive: true });
  });

  test("are those of a directory of the server's machine, read anew each time", async () => {
    const path = mkdtempSync(join(tmpdir(), "grange-definitions-"));
    const file = join(path, "a.yml");
    writeFileSync(file, "version: 1\njobs: {local: {commands: x}}\n");
    const from = { definitionsFrom: { kind: "directory" as const, path } };

    const first = await farm.submit(from);
    writeFileSync(file, "version: 1\njobs: {local: {comands: x}}\n");

    expect(Object.keys(await farm.states(first.id))).toEqual(["local"]);
    await expect(farm.submit(from)).rejects.toThrow(`${file}:2:`);
    rmSync(path, { recursive: true });
  });

  test.each([
    { path: "defs", says: "give the whole path" },
    { path: "/nowhere/such", says: "cannot read the definitions in /nowhere/such" },
  ])("$path cannot be read: $says", async ({ path, says }) => {
    const submitting = farm.submit({ definitionsFrom: { kind: "directory", path } });

    await expect(submitting).rejects.toThrow(says);
  });

  test("need a right of their own where they lie on the server's machine", async () => {
    const submitter = { name: "bob", grants: [{ ...everywhere, verb: "submit" as const }] };
    const from = { definitionsFrom: { kind: "directory" as const, path: "/srv" } };

    await expect(farm.submit(from, submitter)).rejects.toThrow("bob may not define");
  });
});
