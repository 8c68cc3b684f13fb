import fc from "fast-check";
import { expect, test } from "vitest";
import { returnAddress } from "./return-address.ts";

test.each([
  ["/", "/"],
  ["/graphs/latest?view=list#job", "/graphs/latest?view=list#job"],
  ["/repositories/a%2Fb", "/repositories/a%2Fb"],
  [undefined, "/"],
  ["", "/"],
  ["graphs", "/"],
  ["//evil.example", "/"],
  ["/\\evil.example", "/"],
  ["/a\\..\\..", "/"],
  ["/\t/evil.example", "/"],
  ["/.//evil.example", "/"],
  ["https://evil.example/", "/"],
  ["javascript:alert(1)", "/"],
  ["/auth/callback?code=x", "/"],
  ["/api/v1/graphs", "/"],
  [`/${"a".repeat(2_000)}`, "/"],
])("%j leads to %s", (asked, expected) => {
  expect(returnAddress(asked)).toBe(expected);
});

test("whatever is asked for, it stays on the farm, and asking again changes nothing", () => {
  const piece = fc.constantFrom(
    "/",
    "\\",
    "//",
    ".",
    "..",
    "evil.example",
    "@",
    ":",
    "\t",
    "%2f",
    "?",
    "#",
    "a",
    "ä",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const farm = "https://farm.example";
      const address = returnAddress(pieces.join(""));

      expect(new URL(address, farm).origin).toBe(farm);
      expect(returnAddress(address)).toBe(address);
    }),
  );
});
