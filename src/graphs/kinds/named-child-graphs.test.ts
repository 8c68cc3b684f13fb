import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { definitionOfJob } from "../graph.store.ts";
import { GraphId } from "../graph-id.ts";
import { graphSummary } from "../graph-summary.store.ts";
import { farmOfKinds } from "./farm-of-kinds.fixture.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfKinds>>;
beforeAll(async () => {
  farm = await farmOfKinds(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

async function submitted(definitions: string, request: Parameters<typeof farm.submit>[0] = {}) {
  farm.repository.write({ ".grange/jobs.yml": `${definitions}\n# ${randomUUID()}` });
  farm.repository.commit("Change");
  const { id } = await farm.submit(request);
  await farm.settle();
  return id;
}

async function childOf(id: GraphId, job: string): Promise<GraphId> {
  const [row] = await db.many(
    z.object({ child: GraphId }),
    sql`select child from child_graph where graph_id = ${id} and job = ${job}`,
  );
  if (row === undefined) throw new Error(`${job} made no graph`);
  return row.child;
}

const b2g = `
version: 1
parameters: {locale: {default: en}, level: {default: low}}
switches: {pgo: {default: false}}
graphs:
  b2g: {select: "app:b2g", inactive: slow, parameters: {level: high}}
jobs:
  build:
    kind: dummy
    tags: {app: b2g, locale: "\${parameters.locale}", level: "\${parameters.level}", pgo: "\${switches.pgo}"}
  slow: {kind: dummy, tags: {app: b2g}}
  desktop: {kind: dummy}
  german: {kind: graph, graph: b2g, parameters: {locale: de}}
  after: {kind: dummy, needs: [german]}
`;

test("a graph job makes the graph that it names, with the values that it gives", async () => {
  const id = await submitted(b2g, { switches: { pgo: true }, parameters: { level: "middle" } });

  const child = await childOf(id, "german");

  expect(await farm.states(child)).toEqual({ build: "succeeded", slow: "inactive" });
  // Values from the job, from the named graph, and from the job's own graph.
  expect((await definitionOfJob(db, child, "build"))?.tags).toMatchObject({
    locale: "de",
    level: "high",
    pgo: "true",
  });
  expect(await farm.states(id)).toMatchObject({ german: "succeeded", after: "succeeded" });
  expect(await graphSummary(db, child)).toMatchObject({
    set: id,
    parent: { id, kind: "subgraph", job: "german" },
  });
});

test.each([
  {
    job: "{kind: graph, graph: b2h}",
    says: 'job "g": the definitions have no graph "b2h"; did you mean "b2g"?',
  },
  { job: "{kind: graph, graph: b2g, parameters: {local: de}}", says: '"local"' },
  { job: "{kind: graph, graph: b2g, switches: {pgo: maybe}}", says: "pgo" },
])("$job is refused when its graph is planned: $says", async ({ job, says }) => {
  await expect(submitted(`${b2g}  g: ${job}\n`)).rejects.toThrow(says);
});

test("a named graph that would contain itself fails its job, with advice", async () => {
  const id = await submitted(`
version: 1
graphs: {all: {}}
jobs:
  a: {kind: dummy}
  again: {kind: graph, graph: all}
`);

  const child = await childOf(id, "again");

  expect(await farm.states(child)).toEqual({ a: "succeeded", again: "failed" });
  expect((await farm.runs(child, "again"))[0]?.message).toContain(
    'the graph "all" contains itself',
  );
});

test("a graph with inline definitions can name its own graphs", async () => {
  const id = await submitted(`
version: 1
jobs:
  outer:
    kind: graph
    definitions:
      version: 1
      graphs: {small: {select: a}}
      jobs: {a: {kind: dummy}, inner: {kind: graph, graph: small}}
`);

  const outer = await childOf(id, "outer");
  const inner = await childOf(outer, "inner");

  expect(await farm.states(inner)).toEqual({ a: "succeeded" });
  expect(await farm.states(id)).toEqual({ outer: "succeeded" });
});
