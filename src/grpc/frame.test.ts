import * as fc from "fast-check";
import { expect, test } from "vitest";
import { FrameCutter, framed } from "./frame.ts";

test("messages large and small come out as they went in, however they are cut", () => {
  const message = fc.oneof(fc.nat(100), fc.nat(400_000));
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 6 }),
      fc.integer({ min: 1_000, max: 90_000 }),
      (sizes, step) => {
        const messages = sizes.map((size, n) => Buffer.alloc(size, `${n} and so on`));
        const wire = Buffer.concat(messages.flatMap((each) => framed(each)));
        const cutter = new FrameCutter(500_000);
        const got: Uint8Array[] = [];
        for (let at = 0; at < wire.byteLength; at += step) {
          for (const { bytes } of cutter.push(wire.subarray(at, at + step))) got.push(bytes);
          // Besides what has arrived, one segment at most.
          expect(cutter.heldBytes).toBeLessThanOrEqual(at + step + 16_384);
        }
        expect(cutter.isBetweenMessages()).toBe(true);
        expect(cutter.heldBytes).toBe(0);
        expect(got.length).toBe(messages.length);
        for (const [n, each] of messages.entries())
          expect(each.equals(got[n] ?? Buffer.of(0))).toBe(true);
      },
    ),
    { numRuns: 50 },
  );
});
