import { afterAll, beforeAll, expect, test } from "vitest";
import { FoundObjects } from "#api/find.ts";
import { aPrivateFarm } from "./private-farm.fixture.ts";

let farm: Awaited<ReturnType<typeof aPrivateFarm>>;
beforeAll(async () => {
  farm = await aPrivateFarm();
});
afterAll(() => farm?.stop());

async function find(text: string, token: string): Promise<FoundObjects["objects"]> {
  const address = new URL("/api/v1/find", farm.server.url);
  address.searchParams.set("text", text);
  const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBe(200);
  return FoundObjects.parse(await response.json()).objects;
}

test("finds jobs, graphs and repositories by words in any order and case", async () => {
  const jobs = await find("JOB alpha", farm.root);
  const graphs = await find(farm.theirs.commit.slice(0, 10), farm.root);
  const repositories = await find(farm.theirs.repository, farm.root);

  expect(jobs).toContainEqual(
    expect.objectContaining({ kind: "job", name: "alpha-job", graph: farm.theirs.graph }),
  );
  expect(graphs).toContainEqual(
    expect.objectContaining({ kind: "graph", id: farm.theirs.graph, commit: farm.theirs.commit }),
  );
  expect(repositories).toContainEqual({ kind: "repository", name: farm.theirs.repository });
});

test("an id finds exactly the graph or the execution", async () => {
  expect(await find(farm.theirs.graph, farm.root)).toEqual([
    expect.objectContaining({ kind: "graph", id: farm.theirs.graph }),
  ]);
  expect(await find(` ${farm.theirs.execution} `, farm.root)).toEqual([
    { kind: "execution", id: farm.theirs.execution },
  ]);
});

test("a caller finds nothing that it may not read, by no name", async () => {
  const { theirs } = farm;
  for (const text of [
    theirs.job,
    theirs.commit,
    theirs.repository,
    theirs.graph,
    theirs.execution,
    theirs.project,
  ]) {
    expect(await find(text, farm.token)).toEqual([]);
  }

  expect(await find("own-job", farm.token)).toEqual([
    expect.objectContaining({ kind: "job", name: "own-job", graph: farm.ownGraph }),
  ]);
});

test("characters of patterns are plain characters, and a blank text finds nothing", async () => {
  expect(await find("%", farm.root)).toEqual([]);
  expect(await find("own_job", farm.root)).toEqual([]);
  expect(await find("  ", farm.root)).toEqual([]);
});
