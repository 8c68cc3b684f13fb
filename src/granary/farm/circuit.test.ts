import fc from "fast-check";
import { expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import { afterFailure, type Circuit, closed, isTimeToProbe, meansUnreachable } from "./circuit.ts";
import { circuitBreaker } from "./circuit-breaker.ts";

const unavailable = new Fault("unavailable", "nobody is there");

test.each([
  { failures: 1, chance: 1, rests: 1_000 },
  { failures: 2, chance: 1, rests: 2_000 },
  { failures: 4, chance: 0, rests: 4_000 },
  { failures: 6, chance: 1, rests: 30_000 },
  { failures: 60, chance: 0, rests: 15_000 },
])("after $failures failed probes it rests $rests ms", ({ failures, chance, rests }) => {
  let circuit: Circuit = afterFailure(closed, 0, chance);
  for (let n = 1; n < failures; n++) {
    circuit = afterFailure({ kind: "probing", failures: n }, 0, chance);
  }
  expect(circuit).toEqual({ kind: "open", failures, until: rests });
});

test("pauses for at least half a second, and at most half a minute", () => {
  fc.assert(
    fc.property(fc.nat(100), fc.double({ min: 0, max: 0.999, noNaN: true }), (failures, chance) => {
      const open = afterFailure({ kind: "probing", failures }, 0, chance);
      const until = open.kind === "open" ? open.until : -1;
      expect(until).toBeGreaterThanOrEqual(500);
      expect(until).toBeLessThanOrEqual(30_000);
      expect(isTimeToProbe(open, until - 1)).toBe(false);
      expect(isTimeToProbe(open, until)).toBe(true);
    }),
  );
});

test("simultaneous failures count once", () => {
  const once = afterFailure(closed, 0, 1);
  expect(afterFailure(once, 900, 1)).toBe(once);
});

test.each([
  ["unavailable", true],
  ["deadline_exceeded", true],
  ["unauthenticated", true],
  ["permission_denied", false],
  ["unimplemented", false],
  ["invalid_argument", false],
] as const)("a call that ends with %s says that the farm is away: %s", (code, away) => {
  expect(meansUnreachable(new Fault(code, "so it is"))).toBe(away);
});

test("one probe at a time checks whether the farm is back, and nothing waits for it", async () => {
  let now = 0;
  const probes: { resolve: () => void; reject: (reason: Fault) => void }[] = [];
  const changes: boolean[] = [];
  const circuit = circuitBreaker({
    probe: () => new Promise((resolve, reject) => probes.push({ resolve, reject })),
    onChange: (isAway) => changes.push(isAway),
    now: () => now,
    chance: () => 1,
  });
  await expect(circuit.through(() => Promise.reject(unavailable))).rejects.toThrow(unavailable);
  expect(circuit.isAway()).toBe(true);
  expect(probes).toHaveLength(0);

  now = 1_000;
  expect([circuit.isAway(), circuit.isAway(), circuit.isAway()]).toEqual([true, true, true]);
  expect(probes).toHaveLength(1);
  probes[0]?.reject(unavailable);
  await new Promise(setImmediate);
  now = 2_999;
  expect(circuit.isAway()).toBe(true);
  expect(probes).toHaveLength(1);

  now = 3_000;
  expect(circuit.isAway()).toBe(true);
  probes[1]?.resolve();
  await new Promise(setImmediate);
  expect(circuit.isAway()).toBe(false);
  expect(changes).toEqual([true, false]);
});
