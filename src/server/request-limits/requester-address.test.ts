import { expect, test } from "vitest";
import { requesterAddress } from "./requester-address.ts";

test.each([
  { connection: "192.0.2.1", forwarded: undefined, expected: "192.0.2.1" },
  { connection: "::ffff:192.0.2.1", forwarded: undefined, expected: "192.0.2.1" },
  // Anybody could write this header.
  { connection: "192.0.2.1", forwarded: "198.51.100.1", expected: "192.0.2.1" },
  { connection: "127.0.0.1", forwarded: "198.51.100.1", expected: "198.51.100.1" },
  { connection: "::1", forwarded: "203.0.113.9, 198.51.100.1", expected: "198.51.100.1" },
  { connection: "127.0.0.1", forwarded: "", expected: "127.0.0.1" },
  { connection: "2001:db8:1:2:3:4:5:6", forwarded: undefined, expected: "2001:db8:1:2::/64" },
  { connection: "2001:db8::6", forwarded: undefined, expected: "2001:db8:0:0::/64" },
  { connection: "::1", forwarded: undefined, expected: "::1" },
  { connection: undefined, forwarded: undefined, expected: "unknown" },
])("$connection with $forwarded counts as $expected", ({ connection, forwarded, expected }) => {
  expect(requesterAddress(connection, forwarded)).toBe(expected);
});
