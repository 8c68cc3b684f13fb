import { afterAll, describe, expect, test } from "vitest";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { GraphId } from "../graph-id.ts";
import { branchCatalog, catalogOfTree } from "./catalog-source.store.ts";
import { farmOfCatalogs } from "./farm-of-catalogs.fixture.ts";
import { placesOf } from "./job-place.store.ts";
import { previewGraph } from "./preview-graph.ts";
import { definitionsTree } from "./read-definition-files.ts";

const db = await freshDb();
const farm = await farmOfCatalogs(db);
const { repository, services, push } = farm;
afterAll(async () => {
  await farm.stop();
  await db.close();
});

describe("a catalog", () => {
  test("that is pushed twice unchanged has one digest, and is new once", async () => {
    const files = { "a.yml": "version: 1\njobs:\n  twice: {commands: x}\n" };

    const first = await push(files);
    const second = await push(files);

    expect(first).toMatchObject({ isNew: true, entries: 1 });
    expect(second).toEqual({ ...first, isNew: false });
  });

  test("is the same for any order, comments and division into files", async () => {
    const one = await push({
      "a.yml":
        "version: 1\nswitches: {pgo: }\njobs:\n  lint: {commands: x, timeout: 5m}\n  unit: {commands: y}\n",
    });
    const other = await push({
      "unit.yml": "# the unit tests\nversion: 1\njobs:\n  unit: {commands: y}\n",
      "rest.yml":
        "version: 1\njobs:\n  lint:\n    timeout: 5m # at most\n    commands: x\nswitches:\n  pgo:\n",
    });

    expect(other).toEqual({ ...one, isNew: false });
  });

  test.each([
    { what: "a job", text: "version: 1\njobs: {a: {commands: z}}" },
    {
      what: "a switch's default",
      text: "version: 1\nswitches: {s: {default: true}}\njobs: {a: {commands: x}}",
    },
    { what: "a name", text: "version: 1\njobs: {b: {commands: x}}" },
  ])("has another digest when $what changes", async ({ text }) => {
    const before = await push({
      "a.yml": "version: 1\nswitches: {s: }\njobs: {a: {commands: x}}",
    });

    expect((await push({ "a.yml": text })).digest).not.toBe(before.digest);
  });

  test("with a job that nobody could run is rejected, with its place", async () => {
    const pushing = push({ "a.yml": "version: 1\njobs:\n  a: {comands: x}\n" });

    await expect(pushing).rejects.toThrow('a.yml:3:7: job "a": there is no key "comands" here');
  });
});

describe("the definitions of a commit", () => {
  test("are read once for all commits that do not change them", async () => {
    repository.write({
      ".grange/farm.yml": "version: 1\njobs: {a: {commands: x}}\n",
      "a.txt": "1",
    });
    repository.commit("one");
    const first = await farm.submit({ rev: "main" });
    repository.write({ "a.txt": "2" });
    const sha = repository.commit("two");

    const commit = await services.mirrors.fetchCommit(repository.path, sha);
    const tree = (await definitionsTree(services.git, commit)) ?? "";

    expect((await catalogOfTree(db, first.graph.repository, tree))?.catalog).toBe(
      (await branchCatalog(db, first.graph.repository, "main"))?.catalog,
    );
  });

  test("are stored with the lines of their jobs, also when they are known from another commit", async () => {
    repository.write({
      ".grange/farm.yml":
        "version: 1\njobs:\n  # quick\n  a: {commands: x}\n\n  b:\n    commands: y\n",
      ".grange/made.yml":
        "version: 1\njobs:\n  $merge:\n  - {made-1: {commands: z}}\n  - {made-2: {commands: z}}\n",
      "a.txt": "3",
    });
    repository.commit("three");
    const first = await farm.submit();
    repository.write({ "a.txt": "4" });
    repository.commit("four");
    const second = await farm.submit();
    // The state of a catalog that was read before places were stored.
    await db.run(sql`update catalog_source set places = null`);
    repository.write({ "a.txt": "5" });
    repository.commit("five");
    const third = await farm.submit();

    for (const { graph } of [first, second, third]) {
      expect(
        await placesOf(db, GraphId.parse(graph.id), ["a", "b", "made-2", "__proto__"]),
      ).toEqual(
        new Map([
          ["a", { file: ".grange/farm.yml", line: 4 }],
          ["b", { file: ".grange/farm.yml", line: 6 }],
          ["made-2", { file: ".grange/made.yml", line: 2 }],
          ["__proto__", { file: ".grange/made.yml", line: 2 }],
        ]),
      );
    }
  });

  test("have problems with line and column, also when they are known from another commit", async () => {
    const broken =
      "version: 1\nparameters: {p: }\njobs:\n  a: {commands: x, timeout: '${parameters.p}'}\n";
    repository.write({ ".grange/farm.yml": broken });
    repository.commit("broken for most values");
    await farm.submit({ parameters: { p: "5m" } });

    const again = farm.submit({ parameters: { p: "soon" } });

    await expect(again).rejects.toThrow(
      '.grange/farm.yml:4:29: job "a": timeout: must be a duration',
    );
  });

  test("have problems that name the entry when they come from the store", async () => {
    const pushed = await push({
      "a.yml":
        "version: 1\nparameters: {p: }\njobs:\n  a: {commands: x, timeout: '${parameters.p}'}\n",
    });

    const looking = previewGraph(services, { catalog: pushed.digest, parameters: { p: "soon" } });

    await expect(looking).rejects.toThrow(
      `catalog ${pushed.digest.slice(0, 10)}, jobs.a.timeout: job "a": timeout: must be a duration`,
    );
  });
});
