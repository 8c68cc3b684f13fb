import { afterAll, beforeAll, expect, test } from "vitest";
import { everybody } from "#access/principal.ts";
import { farmOfGraphs } from "#graphs/farm-of-graphs.fixture.ts";
import { GraphId } from "#graphs/graph-id.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { gridOfPath } from "./grid-of-path.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
let repository: string;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

async function run(path: string, content: string) {
  farm.repository.write({
    ".grange/jobs.yml": "version: 1\njobs:\n  build: {commands: make}",
    [path]: content,
  });
  farm.repository.commit(`${path} ${content}`);
  const { graph } = await farm.submit();
  repository = graph.repository;
  return graph.id;
}

const gridOf = (
  path: string,
  more: { before?: string | null; limit?: number; branch?: string } = {},
  caller = everybody,
) =>
  gridOfPath({ ...farm.submission, db }, caller, path, {
    repository,
    limit: more.limit ?? 30,
    before: GraphId.optional().parse(more.before ?? undefined),
    ...(more.branch === undefined ? {} : { branch: more.branch }),
  });
const idsOf = ({ rows }: Awaited<ReturnType<typeof gridOf>>) => rows.map(({ graph }) => graph.id);

test("shows the graphs whose commits change the path, page by page, to those who may read them", async () => {
  const one = await run("src/a.txt", "1");
  await run("docs/b.txt", "1");
  const two = await run("src/a.txt", "2");
  await run("docs/b.txt", "2");

  expect(idsOf(await gridOf("src/"))).toEqual([two, one]);
  expect(await gridOf("src")).toMatchObject({ before: null });
  const first = await gridOf("src/a.txt", { limit: 1 });
  expect(idsOf(first)).toEqual([two]);
  expect(first.rows[0]?.cells).toMatchObject([{ column: "build" }]);
  const second = await gridOf("src/a.txt", { limit: 1, before: first.before });
  expect(idsOf(second)).toEqual([one]);

  expect(idsOf(await gridOf("absent"))).toEqual([]);
  expect(idsOf(await gridOf("src", { branch: "other" }))).toEqual([]);
  const nobody = { ...everybody, name: "nobody", grants: [] };
  expect(await gridOf("src", {}, nobody)).toMatchObject({ rows: [], before: null });
  await expect(gridOf("../secret")).rejects.toMatchObject({ code: "invalid_argument" });
});
