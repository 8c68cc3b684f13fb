import { expect, test } from "vitest";
import { limitsWithin, slotShare, slotShareText } from "./slot-share.ts";

const gibibyte = 1024 ** 3;
const machine = { cpus: 8, memoryBytes: 33 * gibibyte };

test("without a size class nothing is limited, for any number of slots", () => {
  expect(slotShare({ slots: 4, hasClass: false }, machine)).toEqual({});
});

test("a size class divides the machine evenly, and reserves some for the worker", () => {
  expect(slotShare({ slots: 4, hasClass: true }, machine)).toEqual({
    cpus: 2,
    memoryBytes: 8 * gibibyte,
  });
});

test("configured values are used; without a class only these", () => {
  expect(slotShare({ slots: 4, hasClass: true, cpus: 1.5 }, machine)).toMatchObject({ cpus: 1.5 });
  expect(slotShare({ slots: 4, hasClass: false, memoryBytes: gibibyte }, machine)).toEqual({
    memoryBytes: gibibyte,
  });
});

test("the whole machine can be given, even with a class", () => {
  expect(slotShare({ slots: 4, hasClass: true, cpus: null, memoryBytes: null }, machine)).toEqual(
    {},
  );
});

test("more slots than CPUs get fractions, whose sum never exceeds the machine", () => {
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

test("an action's own limits reduce its slot's share, and never raise it", () => {
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
