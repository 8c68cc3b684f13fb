import { expect, test } from "vitest";
import { compareSettings } from "./compare-settings.ts";

const settings = { timeoutMs: 60_000, doNotCache: false, saltHash: null, outputs: ["a.o", "b.o"] };

test("equal settings have no difference", () => {
  expect(compareSettings(settings, { ...settings })).toEqual([]);
});

test.each([
  { changes: { timeoutMs: null }, name: "timeout", before: "60 s", after: null },
  { changes: { timeoutMs: 60_001 }, name: "timeout", before: "60 s", after: "60.001 s" },
  { changes: { doNotCache: true }, name: "do not cache", before: null, after: "yes" },
  { changes: { saltHash: "ff" }, name: "salt", before: null, after: "ff" },
  { changes: { outputs: ["b.o", "c.o"] }, name: "outputs", before: "a.o", after: "c.o" },
])("a different $name is a difference: $after", ({ changes, name, before, after }) => {
  expect(compareSettings(settings, { ...settings, ...changes })).toEqual([
    { part: "setting", name, before, after },
  ]);
});

test("of many new outputs the first are named", () => {
  const outputs = Array.from({ length: 25 }, (_, n) => `${n}.o`);
  const [difference] = compareSettings({ ...settings, outputs: [] }, { ...settings, outputs });

  expect(difference?.after).toMatch(/, 19\.o and 5 more$/);
});

test("outputs of a command that is gone are not compared", () => {
  expect(compareSettings(settings, { ...settings, outputs: null })).toEqual([]);
});
