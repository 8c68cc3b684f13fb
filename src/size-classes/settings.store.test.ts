import { afterAll, beforeEach, expect, test } from "vitest";
import {
  SetSizeClassSettings,
  SizeClassSettingValues,
  sizeClassStrategies,
} from "#api/size-class.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { changeSettings, readSettings, sizeClassSettingsChannel } from "./settings.store.ts";
import { defaultSettings, SizeClassSettings } from "./settings.ts";
import { strategyNames } from "./strategy.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() => db.run(sql`truncate size_class_settings`));

const at = new Date(Date.UTC(2030, 0, 1));

test("the API has exactly the existing settings", () => {
  const names = Object.keys(SizeClassSettings.shape).toSorted();

  expect(Object.keys(SizeClassSettingValues.shape).toSorted()).toEqual(names);
  expect(Object.keys(SetSizeClassSettings.shape).toSorted()).toEqual(names);
  expect(sizeClassStrategies).toEqual(strategyNames);
  expect(SizeClassSettingValues.parse(defaultSettings)).toEqual(defaultSettings);
});

test("unset settings have their defaults", async () => {
  expect(await readSettings(db)).toEqual({ settings: defaultSettings, changed: undefined });
});

test("changed settings stay, omitted ones are unchanged, and null resets to the default", async () => {
  await changeSettings(db, { strategy: "adr", priceOfDelay: 5 }, "ada", at);
  await changeSettings(db, { strategy: null, greaterMayTake: false }, "bram", at);

  expect(await readSettings(db)).toEqual({
    settings: { ...defaultSettings, priceOfDelay: 5, greaterMayTake: false },
    changed: { by: "bram", at },
  });
});

test("two simultaneous changes of different settings both succeed", async () => {
  await Promise.all([
    changeSettings(db, { priceOfDelay: 5 }, "ada", at),
    changeSettings(db, { failureBoostMs: 5 }, "bram", at),
  ]);

  const { settings } = await readSettings(db);
  expect(settings).toMatchObject({ priceOfDelay: 5, failureBoostMs: 5 });
});

test("unknown values of another version become defaults", async () => {
  await changeSettings(db, { priceOfDelay: 5 }, "ada", at);
  await db.run(sql`
    update size_class_settings
    set settings = settings || '{"strategy": "tarot", "moon": "full", "timeoutMultiplier": 0}'
  `);

  expect((await readSettings(db)).settings).toEqual({ ...defaultSettings, priceOfDelay: 5 });
});

test("servers are notified of a change", async () => {
  let hears: () => void = () => {};
  const heard = new Promise<void>((resolve) => {
    hears = resolve;
  });
  const ear = await db.listen(sizeClassSettingsChannel, () => hears());

  await changeSettings(db, { priceOfDelay: 5 }, "ada", at);

  await expect(heard).resolves.toBeUndefined();
  await ear.stop();
});
