import { afterAll, beforeEach, expect, test } from "vitest";
import { allPlaces } from "#core/place-patterns.ts";
import { movableClock, silent } from "#execution/execution.fixture.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { addCacheUse, cacheUseSince, forgetCacheUse } from "./cache-use.store.ts";
import { openCacheUse } from "./cache-use.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() => db.script("truncate cache_use"));

const hour = (text: string) => new Date(`2026-11-${text}:00:00Z`);
const since = (text: string, periodSeconds = 3_600) =>
  cacheUseSince(db, { since: hour(text), periodSeconds, places: allPlaces });

test("two servers add up what they counted, by hour", async () => {
  const clock = movableClock();
  const servers = [1, 2].map(() => openCacheUse({ db, clock, logger: silent }));
  for (const server of servers) {
    server.count("default", "actions", true);
    server.count("default", "actions", true);
    server.count("default", "actions", false);
    server.count("team", "nx", false);
  }
  clock.pass(3_600_000);
  servers[0]?.count("default", "actions", true);

  await Promise.all(servers.map((server) => server.stop()));

  const used = await cacheUseSince(db, {
    since: new Date(0),
    periodSeconds: 3_600,
    places: allPlaces,
  });
  const counts = used.map(({ project, kind, hits, misses }) => ({ project, kind, hits, misses }));
  expect(counts.toSorted((a, b) => a.hits - b.hits)).toEqual([
    { project: "team", kind: "nx", hits: 0, misses: 2 },
    { project: "default", kind: "actions", hits: 1, misses: 0 },
    { project: "default", kind: "actions", hits: 4, misses: 2 },
  ]);
});

test("names that anyone makes up do not fill the table", async () => {
  const use = openCacheUse({ db, clock: movableClock(), logger: silent });
  for (let i = 0; i < 3_000; i++) use.count(`project-${i}`, "gradle", false);
  use.count("project-1", "gradle", false);

  await use.stop();

  const used = await cacheUseSince(db, {
    since: new Date(0),
    periodSeconds: 3_600,
    places: allPlaces,
  });
  expect(used.length).toBe(1_000);
  expect(used.find(({ project }) => project === "project-1")?.misses).toBe(2);
});

test("hours are summed to days in UTC, of readable projects only, and old ones are forgotten", async () => {
  const row = { kind: "ccache", hits: 1, misses: 1 };
  await addCacheUse(db, [
    { ...row, project: "a", hour: hour("01T23") },
    { ...row, project: "a", hour: hour("02T00") },
    { ...row, project: "a", hour: hour("02T23") },
    { ...row, project: "secret", hour: hour("02T23") },
  ]);

  const places = { everywhere: false, patterns: [{ repository: "a", branch: "*" }] };
  const days = await cacheUseSince(db, { since: hour("01T00"), periodSeconds: 86_400, places });

  expect(days.toSorted((a, b) => a.at.getTime() - b.at.getTime())).toEqual([
    { project: "a", kind: "ccache", at: hour("01T00"), hits: 1, misses: 1 },
    { project: "a", kind: "ccache", at: hour("02T00"), hits: 2, misses: 2 },
  ]);
  await forgetCacheUse(db, hour("02T23"));
  expect((await since("01T00")).map(({ project }) => project).toSorted()).toEqual(["a", "secret"]);
});
