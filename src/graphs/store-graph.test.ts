import { randomUUID } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { protectedDomain } from "#core/trust-domain.ts";
import { definitionsFrom } from "#definitions/definitions-from.fixture.ts";
import { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { beginGraph } from "./advancing/begin-graph.ts";
import { insertGraph, keepCatalog } from "./graph.store.ts";
import { GraphId } from "./graph-id.ts";
import { jobSummary, wholeGraph } from "./graph-page.store.ts";
import { plan } from "./plan.ts";
import { nameRepository } from "./repository.store.ts";

const db = await freshDb();
const evaluator = new TemplateEvaluator();
afterAll(async () => {
  await evaluator.stop();
  await db.close();
});

/** Returns layers of ten jobs, each of which needs three jobs of the layer before. */
function manyJobs(count: number): string {
  const jobs = Array.from({ length: count }, (_, i) => {
    const before = i < 10 ? [] : [10, 9, 8].map((back) => `j${i - back}`);
    return `  j${i}: {commands: "echo ${i}", inputs: [src, "*.json"], needs: [${before.join(", ")}]}`;
  });
  return `version: 1\njobs:\n${jobs.join("\n")}`;
}

test.each([1_000, 10_000])(
  "a graph of %i jobs is read, planned and stored completely",
  async (count) => {
    const definitions = await definitionsFrom(evaluator, manyJobs(count));
    const planned = await plan(definitions);
    const begun = await beginGraph(planned);
    const id = GraphId.parse(randomUUID());
    await db.transaction(async (tx) => {
      const repository = await nameRepository(tx, "/somewhere/here");
      await keepCatalog(tx, planned.catalog);
      await insertGraph(tx, {
        begun,
        id,
        branch: "main",
        switches: {},
        priority: 0,
        top: false,
        submittedBy: "anyone",
        repository,
        commit: "a".repeat(40),
        rev: "main",
        subject: "",
        author: "",
        committedAt: new Date(0),
        parameters: {},
        domain: protectedDomain,
        skipCache: false,
        catalog: planned.catalog,
      });
    });
    const whole = await wholeGraph(db, id);

    expect(whole?.jobList).toHaveLength(count);
    expect(whole?.edges).toHaveLength(3 * (count - 10));
    // It needs j9, j10 and j11; by name, j10 comes first.
    const waiting = whole?.jobList.find(({ name }) => name === "j19");
    expect(waiting?.reason).toBe("waits for j10 and 2 others");
    expect(waiting).toEqual(await jobSummary(db, id, "j19"));
  },
);
