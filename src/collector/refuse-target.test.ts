import { expect, test } from "vitest";
import { refuseTarget } from "./refuse-target.ts";

test("a machine with another target than its collector is rejected, unless any target is allowed", () => {
  const registered = { target: "linux-arm64" };
  const start = (machine: string, anyTarget = false) =>
    refuseTarget({ name: "lab-1", anyTarget }, registered, machine);

  expect(() => start("linux-x64")).toThrow(
    /registered for linux-arm64, and this machine is linux-x64/,
  );
  expect(() => start("linux-arm64")).not.toThrow();
  expect(() => start("linux-x64", true)).not.toThrow();
});
