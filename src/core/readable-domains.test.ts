import { expect, test } from "vitest";
import { readableDomains } from "./readable-domains.ts";
import { TrustDomain } from "./trust-domain.ts";

test.each([
  ["protected", ["protected"]],
  ["pr/7", ["pr/7", "protected"]],
  ["user/ada", ["user/ada", "protected"]],
])("a run in %s reads %j", (domain, expected) => {
  expect(readableDomains(TrustDomain.parse(domain))).toEqual(expected);
});
