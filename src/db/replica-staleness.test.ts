import { expect, test } from "vitest";
import { hasAllUntilMs, parseLsn, withPosition } from "./replica-staleness.ts";

test("a position has 32 bits before the slash and 32 after it", () => {
  expect(parseLsn("0/0")).toBe(0n);
  expect(parseLsn("1/0")).toBe(2n ** 32n);
  expect(parseLsn("16/B374D848")).toBe(0x16_b374_d848n);
  expect(parseLsn("1/0") > parseLsn("0/FFFFFFFF")).toBe(true);
});

test.each(["", "1", "1/", "1/G", "1/123456789", "-1/0"])("%j is no position", (text) => {
  expect(() => parseLsn(text)).toThrow(RangeError);
});

const positions = [
  { lsn: 100n, readAtMs: 1_000 },
  { lsn: 200n, readAtMs: 1_500 },
  { lsn: 200n, readAtMs: 2_000 },
  { lsn: 300n, readAtMs: 2_500 },
];

test.each([
  { replayed: 99n, until: undefined },
  { replayed: 100n, until: 1_000 },
  { replayed: 199n, until: 1_000 },
  // The primary was quiet between the second and the third position.
  { replayed: 200n, until: 2_000 },
  { replayed: 1_000n, until: 2_500 },
])("a replica that has replayed $replayed has all commits until $until", ({ replayed, until }) => {
  expect(hasAllUntilMs(positions, replayed)).toBe(until);
});

test("the oldest positions are dropped, so a replica that stays behind has none of them", () => {
  let kept: Parameters<typeof withPosition>[0] = [];
  for (let i = 0; i < 1_000; i++) kept = withPosition(kept, { lsn: BigInt(i), readAtMs: i });

  expect(kept).toHaveLength(120);
  expect(hasAllUntilMs(kept, 10n)).toBeUndefined();
  expect(hasAllUntilMs(kept, 2_000n)).toBe(999);
});
