import fc from "fast-check";
import { expect, test } from "vitest";
import { HeldPeak } from "./held-peak.ts";

test("the cache of a file that was copied is not needed memory", () => {
  const peak = new HeldPeak();
  peak.see({ chargedBytes: 60, heldBytes: 10 });
  peak.see({ chargedBytes: 100, heldBytes: 12 });

  expect(peak.of(100)).toBe(12);
});

test("what nobody saw grow is taken for needed", () => {
  const peak = new HeldPeak();
  peak.see({ chargedBytes: 20, heldBytes: 15 });

  expect(peak.of(100)).toBe(95);
  expect(new HeldPeak().of(100)).toBe(100);
});

test("where the kernel keeps no peak, the greatest that was seen counts", () => {
  const peak = new HeldPeak();
  peak.see({ chargedBytes: 20, heldBytes: 15 });

  expect(peak.of(0)).toBe(15);
});

test("it is never less than what was held, nor more than the kernel's peak", () => {
  const bytes = fc.nat(1_000);
  fc.assert(
    fc.property(fc.array(fc.tuple(bytes, bytes)), bytes, (pairs, beyond) => {
      const peak = new HeldPeak();
      const samples = pairs.map(([a, b]) => ({ chargedBytes: a + b, heldBytes: a }));
      for (const sample of samples) peak.see(sample);
      const kernelPeak = Math.max(1, beyond, ...samples.map(({ chargedBytes }) => chargedBytes));

      const found = peak.of(kernelPeak);

      expect(found).toBeLessThanOrEqual(kernelPeak);
      expect(found).toBeGreaterThanOrEqual(Math.max(0, ...pairs.map(([held]) => held)));
    }),
  );
});
