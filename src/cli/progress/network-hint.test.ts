import { expect, test } from "vitest";
import { networkHint } from "./network-hint.ts";

test.each([
  ["Error: getaddrinfo EAI_AGAIN example.org", {}, true],
  ["curl: (6) Could not resolve host: example.org", { network: false }, true],
  ["dial tcp: lookup example.org: no such host", {}, true],
  ["Error: getaddrinfo EAI_AGAIN example.org", { network: true }, false],
  ["1 of 3 tests failed", {}, false],
  ["Error: getaddrinfo EAI_AGAIN example.org", "not a definition", false],
])("a log with %j of a job with %j gives a hint: %s", (log, definition, isGiven) => {
  const hint = networkHint("test", definition, log);

  expect(hint !== undefined && hint.includes("`network: true`")).toBe(isGiven);
});
