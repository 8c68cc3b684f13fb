import { expect, test } from "vitest";
import { openClasses } from "./open-classes.ts";
import type { OfferedClass } from "./strategy.ts";

const gibibyte = 1024 ** 3;
const classes: readonly OfferedClass[] = [1, 2, 4].map((sizeClass) => ({
  sizeClass,
  cpus: sizeClass,
  memoryBytes: 4 * gibibyte * sizeClass,
  price: sizeClass,
  waitMs: 1_000 * sizeClass,
}));
const any = { least: 1, most: undefined };
const chosenFrom = (open: ReturnType<typeof openClasses>) =>
  open.classes.map(({ sizeClass }) => sizeClass);

test("classes within the limits are open", () => {
  expect(chosenFrom(openClasses(classes, { least: 2, most: 4 }, {}, 0))).toEqual([2, 4]);
  expect(openClasses(classes, { least: 4, most: undefined }, {}, 0).isOpen).toBe(false);
});

test.each([
  [{ memory: "5G" }, [2, 4]],
  [{ cpus: "3" }, [4]],
  [{ memory: "100G" }, [1, 2, 4]],
])("what asks for %j may choose from %j", (platform, expected) => {
  const open = openClasses(classes, any, platform, 0);

  expect(chosenFrom(open)).toEqual(expected);
  expect(open.isOpen).toBe(true);
});

test("waits become shorter by their age", () => {
  const waits = openClasses(classes, any, {}, 1_500).classes.map(({ waitMs }) => waitMs);

  expect(waits).toEqual([0, 500, 2_500]);
});
