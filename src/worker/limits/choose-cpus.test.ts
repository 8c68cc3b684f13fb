import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseCpus, cpusFor, withLoad } from "./choose-cpus.ts";

const noCores = new Map<number, string>();

function placeAll(cpus: readonly number[], shares: readonly number[], cores = noCores) {
  let loads: ReadonlyMap<number, number> = new Map();
  return shares.map((share) => {
    const chosen = chooseCpus(cpus, cores, loads, share);
    loads = withLoad(loads, chosen, share);
    return chosen;
  });
}

test.each([
  [1, 1],
  [0.5, 1],
  [1.5, 2],
  [2.0000000001, 2],
  [4, 4],
])("a share of %s CPUs sees %s", (share, many) => {
  expect(cpusFor(share)).toBe(many);
});

test("slots have their own CPUs while there are enough", () => {
  const slots = fc.integer({ min: 1, max: 16 });
  const share = fc.double({ min: 0.1, max: 8, noNaN: true });
  fc.assert(
    fc.property(slots, share, fc.integer({ min: 0, max: 40 }), (many, each, spare) => {
      const cpus = Array.from({ length: many * cpusFor(each) + spare }, (_, i) => i * 3);

      const chosen = placeAll(cpus, Array(many).fill(each)).flat();

      expect(new Set(chosen).size).toBe(many * cpusFor(each));
    }),
  );
});

test("with too few CPUs, the numbers of slots per CPU differ by at most one", () => {
  const gen = [fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 30 })] as const;
  fc.assert(
    fc.property(...gen, (many, slots) => {
      const cpus = Array.from({ length: many }, (_, i) => i);

      const chosen = placeAll(cpus, Array(slots).fill(1)).flat();

      const counts = cpus.map((cpu) => chosen.filter((each) => each === cpu).length);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    }),
  );
});

test("fractions share a CPU before a full CPU gets more", () => {
  expect(placeAll([0, 1], [1, 0.5, 0.5])).toEqual([[0], [1], [1]]);
});

test("released CPUs are free again", () => {
  const share = fc.double({ min: 0.1, max: 4, noNaN: true });
  fc.assert(
    fc.property(fc.array(share, { maxLength: 20 }), (shares) => {
      const cpus = [0, 1, 2, 3];
      let loads: ReadonlyMap<number, number> = new Map();
      const placed = shares.map((each) => {
        const chosen = chooseCpus(cpus, noCores, loads, each);
        loads = withLoad(loads, chosen, each);
        return { chosen, each };
      });
      for (const { chosen, each } of placed) loads = withLoad(loads, chosen, -each);

      for (const load of loads.values()) expect(Math.abs(load)).toBeLessThan(1e-6);
    }),
  );
});

test("a slot gets the threads of one core, and single CPUs come from different cores", () => {
  const cores = new Map([0, 1, 2, 3].map((cpu) => [cpu, `${cpu % 2}`]));

  expect(placeAll([0, 1, 2, 3], [2, 2], cores)).toEqual([
    [0, 2],
    [1, 3],
  ]);
  expect(placeAll([0, 1, 2, 3], [1, 1], cores)).toEqual([[0], [1]]);
});

test("a request for more CPUs than exist gets all of them", () => {
  expect(chooseCpus([4, 7], noCores, new Map(), 9)).toEqual([4, 7]);
});
