import { expect, test } from "vitest";
import { parseTraceparent, traceparentOf } from "./span-place.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";

test.each([
  { header: `00-${traceId}-${spanId}-01`, isSampled: true },
  { header: `00-${traceId}-${spanId}-00`, isSampled: false },
  { header: `00-${traceId}-${spanId}-03`, isSampled: true },
  // A later version may have more fields.
  { header: `01-${traceId}-${spanId}-01-more`, isSampled: true },
])("reads $header", ({ header, isSampled }) => {
  expect(parseTraceparent(header)).toEqual({ traceId, spanId, isSampled });
});

test.each([
  undefined,
  "",
  "garbage",
  `00-${traceId}-${spanId}`,
  `ff-${traceId}-${spanId}-01`,
  `00-${traceId}-${spanId}-01-more`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${"0".repeat(32)}-${spanId}-01`,
  `00-${traceId}-${"0".repeat(16)}-01`,
  `01-${traceId}-${spanId}-01-${"x".repeat(600)}`,
  Buffer.from("00"),
])("ignores a header that is not well-formed: %s", (header) => {
  expect(parseTraceparent(header)).toBeUndefined();
});

test("writes a header that it reads again", () => {
  const header = traceparentOf({ traceId, spanId });

  expect(parseTraceparent(header)).toEqual({ traceId, spanId, isSampled: true });
});
