import { expect, test } from "vitest";
import { environmentProperty, platformKey, requirementsOf, serves } from "./platform.ts";

test("the environment of a client makes another action, and asks nothing of a worker", () => {
  const asked = { OSFamily: "Linux", [environmentProperty]: "ab12" };

  expect(requirementsOf(asked)).toEqual({ OSFamily: "linux" });
  expect(serves({ OSFamily: "linux" }, asked)).toBe(true);
  expect(platformKey(asked)).not.toBe(platformKey({ OSFamily: "Linux" }));
});
