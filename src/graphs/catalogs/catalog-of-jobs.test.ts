import { afterAll, expect, test } from "vitest";
import { everybody } from "#access/principal.ts";
import { allPlaces } from "#core/place-patterns.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { definitionOfJob } from "../graph.store.ts";
import { GraphId } from "../graph-id.ts";
import { diffCatalogs } from "./diff-catalogs.ts";
import { farmOfCatalogs } from "./farm-of-catalogs.fixture.ts";
import { findCatalog } from "./graph-definitions.ts";
import { previewGraph } from "./preview-graph.ts";

const db = await freshDb();
const farm = await farmOfCatalogs(db);
afterAll(async () => {
  await farm.stop();
  await db.close();
});

farm.repository.write({
  ".grange/farm.yml": `version: 1
parameters: {level: {default: low}}
jobs:
  build: {commands: "make \${parameters.level}", outputs: dist}
  unit: {commands: "for f in $\${FILES}; do test; done", needs: [build]}
  slow: {commands: x, when: false}
  report: {commands: report, needs: {unit: {}, slow: {optional: true, outputs: []}}}
`,
});
farm.repository.commit("With holes, and with what looks like one");

test("both digests of a graph are known: of the definitions as written, and of the resulting jobs", async () => {
  const { graph } = await farm.submit({ parameters: { level: "high" } });
  const { templates, catalog } = graph;
  if (templates === null) throw new Error("the graph was made of definitions");

  expect(await findCatalog(db, templates, allPlaces)).toMatchObject({
    digest: templates,
    holds: "templates",
  });
  expect(await findCatalog(db, catalog.slice(0, 12), allPlaces)).toEqual({
    digest: catalog,
    holds: "jobs",
  });
  const { entries } = await farm.submission.cache.get(db, catalog);
  expect(entries.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    "job build",
    "job report",
    "job unit",
  ]);
});

test("two graphs are compared by the digests of their jobs", async () => {
  const low = await farm.submit();
  const high = await farm.submit({ parameters: { level: "high" } });

  const diff = await diffCatalogs(
    farm.services,
    low.graph.catalog,
    high.graph.catalog,
    undefined,
    everybody,
  );

  expect(diff.jobs.changed).toEqual([
    {
      name: "build",
      parts: [{ path: "commands.0", before: "make low", after: "make high" }],
    },
  ]);
});

test("a graph can be made from another graph's jobs, as they were", async () => {
  const first = await farm.submit({ parameters: { level: "high" } });

  const preview = await previewGraph(farm.services, { catalog: first.graph.catalog.slice(0, 12) });
  const again = await farm.submit({ catalog: first.graph.catalog });

  expect(preview.jobs.map(({ name }) => name)).toEqual(["build", "report", "unit"]);
  expect(again.graph.templates).toBeNull();
  const of = (id: string, job: string) => definitionOfJob(db, GraphId.parse(id), job);
  for (const job of ["build", "unit"])
    expect(await of(again.id, job)).toEqual(await of(first.id, job));
});
