import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { auditOfGraph } from "#access/audit.store.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { farmOfGraphs } from "./farm-of-graphs.fixture.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
  farm.repository.write({ README: "definitions come from elsewhere" });
  farm.repository.commit("First");
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

test("a submission is in the audit log once, with the names of given and changed values", async () => {
  const request = {
    id: randomUUID(),
    parameters: { level: "3" },
    patches: { a: { timeout: "2h" } },
    definitions: {
      "a.yml":
        "version: 1\nparameters: {level: {default: '1'}}\njobs: {a: {commands: x, inputs: []}}",
    },
  };

  const { id } = await farm.submit(request);
  await farm.submit(request);

  expect(await auditOfGraph(db, id)).toMatchObject([
    {
      actor: "anyone",
      verb: "submit",
      detail: { branch: "main", given: ["level"], from: { kind: "sent along" }, jobs: ["a"] },
    },
  ]);
});

test("a submission whose plan is refused answers with the problem, and its large templates stay for a day", async () => {
  const mark = randomUUID();
  const jobs = Array.from(
    { length: 1_000 },
    (_, i) => `  j${i}: {commands: "${mark}", inputs: []}`,
  );
  const definitions = { "a.yml": `version: 1\njobs:\n${jobs.join("\n")}\n` };
  const bodies = () =>
    db.many(
      z.object({ digest: z.string() }),
      sql`select digest from definition where body ->> 'commands' like ${`%${mark}%`}`,
    );

  const refused = farm.submit({ definitions, select: "tag:none" });

  await expect(refused).rejects.toThrow(/no job is selected/);
  expect(await bodies()).toHaveLength(1);
  const { graph } = await farm.submit({ definitions, select: "j1 | j2" });
  expect(graph.jobs).toBe(2);
});
