import fc from "fast-check";
import { expect, test } from "vitest";
import { executionId } from "#execution/execution.fixture.ts";
import { judgeLease, type LeaseStanding } from "./judge-lease.ts";

const id = executionId();
const lease = (epoch: number, attempt = 1) => ({ executionId: id, attempt, epoch });
const held = { executionId: id, isLeased: true, attempt: 1, epoch: 5, principal: "attic" };

test.each<[string, ReturnType<typeof lease>, typeof held | undefined, LeaseStanding]>([
  ["what it holds", lease(5), held, "own"],
  ["what another holds", lease(5), { ...held, principal: "barn" }, "foreign"],
  ["an epoch before", lease(4), held, "over"],
  ["an epoch before, held by another now", lease(4), { ...held, principal: "barn" }, "over"],
  ["what is in the queue again", lease(5), { ...held, isLeased: false }, "over"],
  ["an epoch to come", lease(6), held, "forged"],
  ["an epoch to come, of what nobody holds", lease(6), { ...held, isLeased: false }, "forged"],
  ["another attempt", lease(5, 2), held, "forged"],
  ["what is not there", lease(5), undefined, "over"],
])("%s", (_, named, row, expected) => {
  expect(judgeLease(named, row, "attic")).toBe(expected);
});

test("nobody but the holder's principal ever has a lease, whatever is named", () => {
  const numbers = fc.record({
    epoch: fc.integer({ min: 1, max: 6 }),
    attempt: fc.integer({ min: 1, max: 3 }),
    isLeased: fc.boolean(),
    principal: fc.constantFrom("attic", "barn", "anyone"),
  });
  fc.assert(
    fc.property(numbers, numbers, (named, row) => {
      const standing = judgeLease(
        lease(named.epoch, named.attempt),
        { ...row, executionId: id },
        "attic",
      );
      const isHolder =
        row.isLeased &&
        row.principal === "attic" &&
        row.epoch === named.epoch &&
        row.attempt === named.attempt;
      expect(standing === "own").toBe(isHolder);
    }),
  );
});
