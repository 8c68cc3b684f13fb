import { expect, test } from "vitest";
import { isOurHost } from "#core/host-guard.ts";

test.each([
  ["127.0.0.1:8980", true],
  ["localhost:8980", true],
  ["LOCALHOST", true],
  ["[::1]:8980", true],
  ["farm.localhost:8980", true],
  ["evil.example", false],
  ["127.0.0.1.evil.example", false],
  ["", false],
  [undefined, false],
])("on loopback, host %s is ours: %s", (header, ours) => {
  expect(isOurHost(header, "127.0.0.1")).toBe(ours);
});

test("where others can reach us, the name is the operator's choice", () => {
  expect(isOurHost("farm.example", "0.0.0.0")).toBe(true);
});
