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
  test("shows which jobs have a result already, and a submission makes the same jobs", async () => {
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

  test("includes customisations for that graph, and can be submitted by its digest at once", async () => {
    repository.write({
      ".grange/farm.yml": "version: 1\njobs:\n  lone: {commands: lone, inputs: []}\n",
    });
    const sha = repository.commit("lone");
    const asked = { repository: repository.path, rev: sha };
    const patches = { lone: { environment: { LEVEL: "2" } } };

    const plain = await previewGraph(services, asked);
    const patched = await previewGraph(services, { ...asked, patches });
    const { graph } = await farm.submit({ rev: sha, catalog: patched.catalog, patches });
    await farm.work();
    const after = await previewGraph(services, { ...asked, patches });

    expect(patched.catalog).toBe(plain.catalog);
    expect(patched.jobs[0]?.definition).not.toBe(plain.jobs[0]?.definition);
    expect(graph).toMatchObject({ templates: plain.catalog, customised: 1 });
    expect(after.jobs.map(({ hasResult }) => hasResult)).toEqual([true]);
    expect((await previewGraph(services, asked)).jobs.map(({ hasResult }) => hasResult)).toEqual([
      false,
    ]);
    await expect(
      previewGraph(services, { ...asked, patches: { long: { timeout: "1m" } } }),
    ).rejects.toThrow('the graph has no job "long"');
  });

  test("of a branch needs no revision", async () => {
    const name = await nameOfRepository();
    const preview = await previewGraph(services, { repository: name, branch: "main" });

    expect(preview.commit).toBeNull();
    expect(preview.jobs.length).toBeGreaterThan(0);
  });
});
