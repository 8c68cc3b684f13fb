import { expect, test } from "vitest";
import { nearestName } from "./nearest-name.ts";

test.each([
  { written: "comands", nearest: "commands" },
  { written: "biuld", nearest: "build" },
  { written: "Build", nearest: "build" },
  { written: "foo", nearest: undefined },
  { written: "", nearest: undefined },
])("of commands, build and test, $nearest is nearest to $written", ({ written, nearest }) => {
  expect(nearestName(written, ["commands", "build", "test"])).toBe(nearest);
});
