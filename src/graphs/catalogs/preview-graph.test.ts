import { afterAll, describe, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { farmOfCatalogs } from "./farm-of-catalogs.fixture.ts";
import { previewGraph } from "./preview-graph.ts";

const db = await freshDb();
const farm = await farmOfCatalogs(db);
const { repository, services, nameOfRepository } = farm;
afterAll(async () => {
  await farm.stop();
  await db.close();
});

describe("a preview", () => {
  test("says which jobs have a result already, and submitting it makes the same jobs", async () => {
    repository.write({
      ".grange/farm.yml":
        "version: 1\njobs:\n  one: {commands: one}\n  two: {commands: two, needs: {one: {outputs: []}}}\n",
    });
    const sha = repository.commit("one and two");
    const before = await previewGraph(services, { repository: repository.path, rev: sha });
    const { graph } = await farm.submit({ rev: sha });
    await farm.work();

    const after = await previewGraph(services, { repository: repository.path, rev: sha });

    expect(before.jobs.map(({ name, state, hasResult }) => [name, state, hasResult])).toEqual([
      ["one", "ready", false],
      ["two", "blocked", false],
    ]);
    expect(after.jobs.map(({ hasResult }) => hasResult)).toEqual([true, true]);
    expect(graph.catalog).toBe(before.rendered);
    expect(after.edges).toEqual([{ job: "two", on: "one", condition: "success" }]);
  });

  test("of a branch needs no revision, and stores nothing", async () => {
    const name = await nameOfRepository();
    const preview = await previewGraph(services, { repository: name, branch: "main" });

    expect(preview.commit).toBeNull();
    expect(preview.jobs.length).toBeGreaterThan(0);
  });
});
