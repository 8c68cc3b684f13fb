import { expect, test } from "vitest";
import { isAlive, ownOwner } from "./owner.ts";

test("knows itself to be alive, and a process id that was used again to be another", () => {
  const [pid, , namespace] = ownOwner().split("-");

  expect(isAlive(ownOwner())).toBe(true);
  expect(isAlive(`${pid}-1-${namespace}`)).toBe(false);
});

test("says of a process in another pid namespace that it may be alive", () => {
  expect(isAlive("4194303-1-999")).toBe(true);
});
