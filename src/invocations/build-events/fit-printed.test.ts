import fc from "fast-check";
import { expect, test } from "vitest";
import { fitPrinted } from "./fit-printed.ts";

test("keeps all below the limit, and says where it ends", () => {
  expect(Buffer.from(fitPrinted(0, Buffer.from("abc"), 10)).toString()).toBe("abc");
  expect(Buffer.from(fitPrinted(8, Buffer.from("abc"), 10)).toString()).toMatch(/^ab\n\[the farm/);
});

test("however it is cut, a log has the same bytes and one note at most", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(9)), fc.integer({ min: 1, max: 40 }), (sizes, limit) => {
      const one = (lengths: readonly number[]) =>
        lengths.reduce(
          (log, length) =>
            Buffer.concat([log, fitPrinted(log.length, Buffer.alloc(length, "x"), limit)]),
          Buffer.alloc(0),
        );
      const total = sizes.reduce((sum, size) => sum + size, 0);
      expect(one(sizes).toString()).toBe(one([total]).toString());
    }),
  );
});
