import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { everybody, type Principal } from "#access/principal.ts";
import { Retrigger } from "#api/rerun.ts";
import { allPlaces } from "#core/place-patterns.ts";
import { testRepository } from "#git/repository.fixture.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { farmOfGraphs } from "../farm-of-graphs.fixture.ts";
import { retrigger } from "../reruns/retrigger.ts";
import { graphSet } from "./graph-set.store.ts";
import { findSet } from "./join-set.ts";

const db = await freshDb();
const elsewhere = mkdtempSync(join(tmpdir(), "grange-sets-"));
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
let other: ReturnType<typeof testRepository>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
  farm.repository.write({
    ".grange/jobs.yml": `
      version: 1
      graphs: {b2g: {select: "app:b2g"}, mobile: {select: "app:mobile"}}
      jobs:
        b2g: {kind: dummy, tags: {app: b2g}}
        emulator: {kind: dummy, tags: {app: b2g}}
        mobile: {kind: dummy, tags: {app: mobile}}
    `,
  });
  farm.repository.commit("First");
  other = testRepository(elsewhere);
  other.write({
    ".grange/jobs.yml": "version: 1\njobs: {gaia: {kind: dummy, tags: {app: b2g}}}",
  });
  other.commit("Other");
});
afterAll(async () => {
  await farm.stop();
  await rm(elsewhere, { recursive: true });
  await db.close();
});

const idsOf = async (written: string) => {
  const set = await findSet(db, written, allPlaces);
  return set === undefined
    ? undefined
    : (await graphSet(db, set, allPlaces))?.graphs.map(({ id }) => id);
};

test("submissions of one commit and of several repositories form one set by its name", async () => {
  const b2g = await farm.submit({ graph: "b2g", set: "nightly-2026-11-24" });
  const mobile = await farm.submit({ graph: "mobile", set: "nightly-2026-11-24" });
  const gaia = await farm.submit({ repository: other.path, set: "nightly-2026-11-24" });

  expect(b2g.graph).toMatchObject({ set: b2g.id, setName: "nightly-2026-11-24" });
  expect(gaia.graph).toMatchObject({ set: b2g.id, setName: "nightly-2026-11-24" });
  expect(await idsOf("nightly-2026-11-24")).toEqual([b2g.id, mobile.id, gaia.id]);
});

test("a selection over the set covers all of its graphs", async () => {
  const b2g = await farm.submit({ graph: "b2g", set: "to-retrigger" });
  await farm.submit({ graph: "mobile", set: "to-retrigger" });
  const gaia = await farm.submit({ repository: other.path, set: "to-retrigger" });
  const asked = Retrigger.parse({ selection: "b2g", wholeSet: true, dryRun: true });

  const planned = await retrigger({ db, pricePerWorkerMinute: 0 }, gaia.id, asked, everybody);

  expect(new Set(planned?.jobs.map(({ graph, job }) => `${graph} ${job}`))).toEqual(
    new Set([`${b2g.id} b2g`, `${b2g.id} emulator`, `${gaia.id} gaia`]),
  );
});

test("a set can be joined through one of its graphs, and then has no name", async () => {
  const first = await farm.submit({ graph: "b2g" });

  const second = await farm.submit({ graph: "mobile", set: first.id.slice(0, 8) });

  expect(second.graph).toMatchObject({ set: first.id, setName: null });
  expect(await idsOf(second.id)).toEqual([first.id, second.id]);
});

test("simultaneous submissions to one new name form one set", async () => {
  const submitted = await Promise.all(
    Array.from({ length: 6 }, () => farm.submit({ graph: "b2g", set: "at-once" })),
  );

  expect(new Set(submitted.map(({ graph }) => graph.set)).size).toBe(1);
  expect(await idsOf("at-once")).toHaveLength(6);
});

test("a failed submission leaves the set's name free", async () => {
  await expect(
    farm.submit({ graph: "b2g", set: "left", patches: { b2g: { timeout: 1 } } }),
  ).rejects.toThrow("timeout");

  const { id, graph } = await farm.submit({ graph: "b2g", set: "left" });

  expect(graph.set).toBe(id);
});

test("a repeated submission is in the set once", async () => {
  const id = "0b9f7a52-3a3c-4b7e-9a53-52a36d2b9c11";

  await farm.submit({ id, graph: "b2g", set: "twice" });
  const again = await farm.submit({ id, graph: "b2g", set: "twice" });

  expect(again.isNew).toBe(false);
  expect(await idsOf("twice")).toEqual([id]);
});

test("a principal that may not submit for a graph of the set cannot join it", async () => {
  const { graph } = await farm.submit({ repository: other.path, set: "of-others" });
  const { graph: here } = await farm.submit({ graph: "b2g" });
  const stranger: Principal = {
    name: "stranger",
    grants: everybody.grants.map((grant) => ({ ...grant, repository: here.repository })),
  };

  await expect(farm.submit({ graph: "b2g", set: "of-others" }, stranger)).rejects.toThrow(
    `stranger may not submit on main of ${graph.repository}`,
  );
});

test.each([
  { set: "ffffffff", says: 'there is no graph "ffffffff" whose set could be meant' },
  { set: "cafe", says: "the name of a new set must not look like the beginning of an id" },
])("a set written as $set is refused", async ({ set, says }) => {
  await expect(farm.submit({ graph: "b2g", set })).rejects.toThrow(says);
});
