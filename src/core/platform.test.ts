import { expect, test } from "vitest";
import { environmentProperty, platformKey, requirementsOf, serves } from "./platform.ts";

test("the environment of a client makes another action, and asks nothing of a worker", () => {
  const asked = { OSFamily: "Linux", [environmentProperty]: "ab12" };

  expect(requirementsOf(asked)).toEqual({ OSFamily: "linux" });
  expect(serves({ OSFamily: "linux" }, asked)).toBe(true);
  expect(platformKey(asked)).not.toBe(platformKey({ OSFamily: "Linux" }));
});

test.each([
  { asked: {}, taken: false },
  { asked: { OSFamily: "linux" }, taken: false },
  { asked: { pool: "hw" }, taken: true },
  { asked: { pool: "other" }, taken: false },
  { asked: { pool: "hw", network: "true" }, taken: true },
])("a worker only for its pool takes what asks for $asked: $taken", ({ asked, taken }) => {
  expect(serves({ OSFamily: "linux", pool: "hw", "grange-only-for": "pool" }, asked)).toBe(taken);
});
