import { expect, test } from "vitest";
import { TrustDomain } from "#core/trust-domain.ts";
import { readableDomains } from "./readable-domains.ts";

test.each([
  ["protected", ["protected"]],
  ["pr/7", ["pr/7", "protected"]],
  ["user/ada", ["user/ada", "protected"]],
])("a run in %s reads %j", (domain, expected) => {
  expect(readableDomains(TrustDomain.parse(domain))).toEqual(expected);
});
