import { afterAll, beforeEach, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { changeCollector } from "../collectors/change-register.ts";
import { aCollector, aLabServer } from "../jobs/lab-driver.fixture.ts";
import { labTimes } from "../lab-times.ts";
import { aLab, emptyLab } from "../perf.fixture.ts";
import { unservedAnnouncer } from "./announce-unserved.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() => emptyLab(db));

test("jobs whose only collector is out of duty are reported once, and once more when it happens again", async () => {
  await aLab(db);
  const server = aLabServer(db);
  const { name } = await aCollector(server, { set: null });
  const logged: { readonly place: object; readonly text: string }[] = [];
  const log = (place: object, text: string) => logged.push({ place, text });
  const announce = unservedAnnouncer({
    db,
    clock: server.clock,
    times: labTimes,
    logger: { warn: log, info: log } as never,
  });
  const setDuty = (outOfDuty: string | null) =>
    db.transaction((tx) => changeCollector(tx, name, { outOfDuty }));

  await announce();
  expect(logged).toEqual([]);
  await setDuty("a fan is broken");
  await announce();
  await announce();
  expect(logged).toMatchObject([
    { place: { set: 0, outOfDuty: [name] } },
    { place: { set: 1, outOfDuty: [name] } },
  ]);
  expect(logged[0]?.text).toContain("no collector in duty can take them");
  await setDuty(null);
  await announce();
  await setDuty("it is broken again");
  await announce();
  expect(logged).toHaveLength(6);
});
