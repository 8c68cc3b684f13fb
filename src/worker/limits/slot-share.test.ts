import { expect, test } from "vitest";
import { limitsWithin, slotShare, slotShareText } from "./slot-share.ts";

const gibibyte = 1024 ** 3;
const machine = { cpus: 8, memoryBytes: 33 * gibibyte };

test("without a size class nothing is limited, whatever the slots", () => {
  expect(slotShare({ slots: 4, hasClass: false }, machine)).toEqual({});
});

test("a size class makes even parts of the machine, and leaves the worker some", () => {
  expect(slotShare({ slots: 4, hasClass: true }, machine)).toEqual({
    cpus: 2,
    memoryBytes: 8 * gibibyte,
  });
});

test("what is said holds, and only that when no class is", () => {
  expect(slotShare({ slots: 4, hasClass: true, cpus: 1.5 }, machine)).toMatchObject({ cpus: 1.5 });
  expect(slotShare({ slots: 4, hasClass: false, memoryBytes: gibibyte }, machine)).toEqual({
    memoryBytes: gibibyte,
  });
});

test("all of a machine can be given though there is a class", () => {
  expect(slotShare({ slots: 4, hasClass: true, cpus: null, memoryBytes: null }, machine)).toEqual(
    {},
  );
});

test("more slots than CPUs have fractions, which are never more than there is", () => {
  const { cpus = 0 } = slotShare({ slots: 3, hasClass: true }, { ...machine, cpus: 2 });

  expect(cpus).toBe(0.66);
});

test.each([
  [{ cpus: 9 }, "9 CPUs; it can give at most 8 CPUs: all there is"],
  [{ cpus: 0 }, "at least 0.01"],
  [{ memoryBytes: 40 * gibibyte }, "40 GiB of memory; it can give at most 33 GiB of memory"],
  [{ memoryBytes: 1000 }, "at least 16 MiB"],
])("%j is refused", (told, says) => {
  expect(() => slotShare({ slots: 1, hasClass: false, ...told }, machine)).toThrow(says);
});

test("an action's own limits lower what its slot gives, and never raise it", () => {
  const share = { cpus: 2, memoryBytes: gibibyte };

  expect(limitsWithin({ processes: 1, cpus: 1, memoryBytes: 4 * gibibyte }, share)).toEqual({
    processes: 1,
    cpus: 1,
    memoryBytes: gibibyte,
  });
  expect(limitsWithin({ processes: 1 }, share)).toEqual({ processes: 1, ...share });
  expect(limitsWithin({ processes: 1, cpus: 4 }, {})).toEqual({ processes: 1, cpus: 4 });
});

test.each([
  [{}, "all of the machine"],
  [{ cpus: 1, memoryBytes: gibibyte }, "1 CPU, 1 GiB of memory"],
  [{ cpus: 0.5 }, "0.5 CPUs, all memory"],
])("%j reads as %s", (share, text) => {
  expect(slotShareText(share)).toBe(text);
});
