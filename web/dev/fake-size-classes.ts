import {
  ExecutionSizeClass,
  SetSizeClassSettings,
  SizeClassDetail,
  SizeClasses,
  SizeClassKeyDetail,
  SizeClassKeys,
  SizeClassSettingsNow,
  type SizeClassSettingValues,
} from "#api/size-class.ts";
import type { FakeFarm } from "./fake-farm.ts";
import { fakeExecution } from "./fake-invocations.ts";
import { FakeRefusal } from "./fake-refusal.ts";
import {
  defaultSettings,
  madeUpClasses,
  madeUpHours,
  madeUpKey,
  madeUpKeys,
  madeUpSizeClassOf,
  sizedExecution,
} from "./made-up-size-classes.ts";

const keys = (farm: FakeFarm, now: Date) => (farm.graphs.size === 0 ? [] : madeUpKeys(now));

export function fakeSizeClasses(
  farm: FakeFarm,
  id: string | undefined,
  query: URLSearchParams,
  body: unknown,
): unknown {
  const now = new Date();
  const classes = madeUpClasses(now);
  if (id === "settings") return fakeSettings(farm, body);
  if (id === undefined) {
    return SizeClasses.parse(farm.graphs.size === 0 ? { ...classes, platforms: [] } : classes);
  }
  const name = query.get("platform");
  const platform = classes.platforms.find(
    (each) =>
      (name === null || each.name === name) &&
      each.classes.some(({ sizeClass }) => sizeClass === Number(id)),
  );
  const found = platform?.classes.find(({ sizeClass }) => sizeClass === Number(id));
  if (platform === undefined || found === undefined) {
    throw new FakeRefusal(404, "not_found", `there is no size class ${id}`);
  }
  return SizeClassDetail.parse({
    lately: classes.lately,
    name: platform.name,
    platform: platform.platform,
    others: platform.classes.flatMap((each) => (each === found ? [] : [each.sizeClass])),
    class: found,
    hours: madeUpHours(now, found),
    keys: found.runs === 0 ? [] : keys(farm, now).slice(0, 5),
  });
}

export function fakeSizeClassKeys(
  farm: FakeFarm,
  id: string | undefined,
  query: URLSearchParams,
): unknown {
  const now = new Date();
  const all = keys(farm, now);
  if (id !== undefined) {
    const found = all.find((each) => each.key === id);
    if (found === undefined) throw new FakeRefusal(404, "not_found", `there is no key "${id}"`);
    return SizeClassKeyDetail.parse(madeUpKey(found, now));
  }
  const text = (query.get("text") ?? "").toLowerCase();
  const passing = all.filter(({ title }) => title.toLowerCase().includes(text));
  const from = Number(query.get("before") ?? 0);
  const to = from + Number(query.get("limit") ?? 50);
  return SizeClassKeys.parse({
    lately: madeUpClasses(now).lately,
    keys: passing.slice(from, to),
    next: to < passing.length ? String(to) : null,
  });
}

export function fakeExecutionSizeClass(farm: FakeFarm, id: string): ExecutionSizeClass {
  fakeExecution(farm, id);
  return ExecutionSizeClass.parse(madeUpSizeClassOf(id, new Date(), id === sizedExecution));
}

function fakeSettings(farm: FakeFarm, body: unknown): SizeClassSettingsNow {
  if (body !== undefined) {
    const asked = SetSizeClassSettings.safeParse(body);
    if (!asked.success) throw new FakeRefusal(400, "invalid_argument", asked.error.message);
    const said: Record<string, unknown> = { ...farm.sizeClassSettings };
    for (const [name, value] of Object.entries(asked.data)) {
      said[name] = value ?? defaultSettings[name as keyof SizeClassSettingValues];
    }
    farm.sizeClassSettings = said;
  }
  const isChanged = farm.sizeClassSettings !== undefined;
  return SizeClassSettingsNow.parse({
    settings: { ...defaultSettings, ...farm.sizeClassSettings },
    usual: defaultSettings,
    changedBy: isChanged ? "ada" : null,
    changedAt: isChanged ? new Date().toISOString() : null,
  });
}
