import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { aSuite, emptyLab, storeSuite } from "../perf.fixture.ts";
import { findSuite } from "../suites.store.ts";
import { discoverAll } from "./discover.ts";
import { aKnownArtifact, aService, aSource } from "./requests.fixture.ts";

const url = await freshDatabase();
const db = openPostgres({ url });
const otherDb = openPostgres({ url });
beforeEach(() => emptyLab(db));

const day = 86_400_000;
const now = Date.UTC(2026, 5, 1);
const discovering = aSuite({
  artifacts: { from: "npm" },
  discover: { everyMinutes: 10, masterDays: 5, releases: 2 },
});
const line = (days: number) =>
  Array.from({ length: days }, (_, i) =>
    aKnownArtifact(`n-${String(days - 1 - i).padStart(2, "0")}`, {
      datedAt: new Date(now - (days - 1 - i) * day),
      parent: i === 0 ? null : `n-${String(days - i).padStart(2, "0")}`,
    }),
  );
const releases = ["5.7.0", "5.8.0", "5.9.0"].map((tag, i) =>
  aKnownArtifact(tag, { kind: "release", datedAt: new Date(now - (900 - i) * day) }),
);
const never = () => {
  throw new Error("no source fails here");
};
const Row = z.object({ tag: z.string(), kind: z.string(), parent: z.string().nullable() });
const asked = () =>
  db.many(
    Row,
    sql`
      select a.tag, r.kind, p.tag as parent from benchmark_request as r
      join benchmark_artifact as a on a.id = r.artifact_id left join benchmark_artifact as p on p.id = r.parent_id
      order by a.tag
    `,
  );

test("requests the main line as far back as the suite says, and its newest releases", async () => {
  await storeSuite(db, discovering);
  const service = aService(db, { source: aSource([...line(9), ...releases]) });

  await discoverAll(service.services, never);

  expect(await asked()).toEqual([
    { tag: "5.8.0", kind: "release", parent: null },
    { tag: "5.9.0", kind: "release", parent: null },
    ...["n-00", "n-01", "n-02", "n-03", "n-04", "n-05"].map((tag, i) => ({
      tag,
      kind: "master",
      parent: `n-0${i + 1}`,
    })),
  ]);
});

test("requests each artifact once, and reads the source no more often than the suite says", async () => {
  await storeSuite(db, discovering);
  const service = aService(db, { source: aSource(line(2)) });

  await Promise.all([
    discoverAll(service.services, never),
    discoverAll(aService(otherDb, { source: service.source }).services, never),
  ]);
  await discoverAll(service.services, never);
  expect(service.source.asked).toBe(1);
  service.clock.pass(10 * 60_000);
  await discoverAll(service.services, never);

  expect(service.source.asked).toBe(2);
  expect(await asked()).toHaveLength(2);
});

test("requests new artifacts", async () => {
  await storeSuite(db, discovering);
  const service = aService(db, { source: aSource(line(1)) });
  await discoverAll(service.services, never);

  service.clock.pass(day);
  service.source.artifacts.push(
    aKnownArtifact("n-new", { datedAt: new Date(now + day), parent: "n-00" }),
  );
  await discoverAll(service.services, never);

  expect((await asked()).map(({ tag }) => tag)).toEqual(["n-00", "n-new"]);
});

test("makes requests ready that waited for an artifact", async () => {
  await storeSuite(db, discovering);
  const service = aService(db, { source: aSource([]) });
  await service.submit({ artifact: "n-00", waitForArtifacts: true, kind: "master" });

  service.source.artifacts.push(...line(1));
  await discoverAll(service.services, never);

  const [row] = await db.many(
    z.object({ state: z.string() }),
    sql`select state from benchmark_request`,
  );
  expect(row?.state).toBe("artifacts-ready");
});

test("a source that does not answer is reported, stops no other suite, and is read again", async () => {
  await storeSuite(db, discovering);
  await storeSuite(db, { ...discovering, suite: "other" });
  const service = aService(db, { source: aSource(line(1)) });
  const failed: string[] = [];
  const source = aSource(line(1));
  source.fails = "npm is away";
  const sources = {
    ...service.services.sources,
    look: (suite: Parameters<typeof service.services.sources.look>[0]) =>
      suite.name === "demo"
        ? aService(db, { source }).services.sources.look(suite)
        : service.services.sources.look(suite),
  };

  await discoverAll({ ...service.services, sources }, (suite) => failed.push(suite));

  expect(failed).toEqual(["demo"]);
  expect(service.source.asked).toBe(1);
  expect((await findSuite(db, "demo"))?.lookFailed).toBe("npm is away");
  source.fails = undefined;
  service.clock.pass(11 * 60_000);
  await discoverAll({ ...service.services, sources }, never);
  expect((await findSuite(db, "demo"))?.lookFailed).toBeNull();
});

test("the use of an artifact that was requested does not change", async () => {
  await storeSuite(db, discovering);
  const service = aService(db, { source: aSource(line(1)) });
  await discoverAll(service.services, never);

  service.source.artifacts = [
    aKnownArtifact("n-00", {
      datedAt: new Date(now),
      components: {
        js: { kind: "npm", package: "typescript", version: "6.0.0" },
        native: { kind: "npm", package: "native", version: "7.0.0" },
      },
    }),
  ];
  service.clock.pass(11 * 60_000);
  await discoverAll(service.services, never);

  const [row] = await db.many(
    z.object({ js: z.string(), native: z.string() }),
    sql`
      select components -> 'js' ->> 'version' as js, components -> 'native' ->> 'version' as native
      from benchmark_artifact
    `,
  );
  expect(row).toEqual({ js: "5.9.3", native: "7.0.0" });
});

test("requests all of an artifact of which a search requested a part", async () => {
  await storeSuite(db, discovering);
  const service = aService(db, { source: aSource(line(1)) });
  await service.submit({ artifact: "n-00", benchmarks: ["alpha"] });

  await discoverAll(service.services, never);

  const rows = await db.many(
    z.object({ benchmarks: z.array(z.string()) }),
    sql`select benchmarks from benchmark_request`,
  );
  expect(rows).toEqual([{ benchmarks: [] }]);
});
