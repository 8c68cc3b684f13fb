import fc from "fast-check";
import { expect, test } from "vitest";
import { HeldPeak } from "./held-peak.ts";

test("the cache of a copied file is not needed memory", () => {
  const peak = new HeldPeak();
  peak.see({ chargedBytes: 60, heldBytes: 10 });
  peak.see({ chargedBytes: 100, heldBytes: 12 });

  expect(peak.of(100)).toBe(12);
});

test("growth between two samples counts as needed", () => {
  const peak = new HeldPeak();
  peak.see({ chargedBytes: 20, heldBytes: 15 });

  expect(peak.of(100)).toBe(95);
  expect(new HeldPeak().of(100)).toBe(100);
});

test("without a kernel peak, the highest sample counts", () => {
  const peak = new HeldPeak();
  peak.see({ chargedBytes: 20, heldBytes: 15 });

  expect(peak.of(0)).toBe(15);
});

test("the peak is never below the held memory, nor above the kernel's peak", () => {
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
