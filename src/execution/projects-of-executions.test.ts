import { afterAll, expect, test } from "vitest";
import { freshDb } from "../../test/support/fresh-db.ts";
import { aQueue, aRequest, executionId } from "./execution.fixture.ts";
import { projectsOfExecutions } from "./projects-of-executions.ts";

const db = await freshDb();
const queue = await aQueue(db);
afterAll(async () => {
  await queue.stop();
  await db.close();
});

test("a server that did not assign an execution also knows its project", async () => {
  const { id } = aRequest();
  await queue.submit(aRequest({ id, project: "team/b" }));
  const projects = projectsOfExecutions(db);

  expect(await projects.of(id)).toBe("team/b");
  expect(await projects.of(executionId())).toBeUndefined();
});

test("the database is not queried for executions that this server assigned", async () => {
  const { id, actionDigest, domain } = aRequest();
  const nowhere = { many: () => Promise.reject(new Error("asked")) } as unknown as typeof db;
  const projects = projectsOfExecutions(nowhere);
  const lease = { executionId: id, attempt: 1, epoch: 1 };

  projects.handedOut([{ lease, project: "team/c", domain, actionDigest, timeoutMs: 1 }]);

  expect(await projects.of(id)).toBe("team/c");
});
