import { expect, test } from "vitest";
import { patchOfOptions, patchOfSettings } from "./patch-of-options.ts";

test.each([
  { settings: ["timeout=2h"], patch: { timeout: "2h" } },
  { settings: ["retries=3", "network=true"], patch: { retries: 3, network: true } },
  {
    settings: ["environment.LANG=C", "environment.TZ=null"],
    patch: { environment: { LANG: "C", TZ: null } },
  },
  { settings: ['commands=["make", "make test"]'], patch: { commands: ["make", "make test"] } },
  { settings: ["tags.a\\.b=c=d"], patch: { tags: { "a.b": "c=d" } } },
])("$settings is the patch $patch", ({ settings, patch }) => {
  expect(patchOfSettings(settings)).toEqual(patch);
});

test("settings go beside what was changed before, a file takes its place", async () => {
  const before = { environment: { TAX: "19" }, timeout: "1h" };

  expect(await patchOfOptions({ set: ["environment.LANG=C", "timeout=2h"] }, before)).toEqual({
    environment: { TAX: "19", LANG: "C" },
    timeout: "2h",
  });
});

test("what sets nothing is told so", () => {
  expect(() => patchOfSettings(["timeout"])).toThrow("write PATH=VALUE");
});

test.each([{}, { set: ["a=b"], remove: true }])(
  "%o says too little, or too much",
  async (options) => {
    await expect(patchOfOptions(options, null)).rejects.toThrow("give a change");
  },
);
