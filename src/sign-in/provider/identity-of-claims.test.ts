import { describe, expect, test } from "vitest";
import { identityOf } from "./identity-of-claims.ts";

const claims = {
  iss: "https://p.example",
  sub: "1",
  email: "Alice@Farm.example",
  email_verified: true,
};
const byEmail = { principal: "email", groups: "groups" };

test("a verified address is the name, in small letters: it is the same mailbox", () => {
  expect(identityOf(claims, byEmail)).toEqual({
    issuer: "https://p.example",
    subject: "1",
    name: "alice@farm.example",
    isVerified: true,
    groups: [],
  });
});

test("groups lend the grants of principals that no person can be", () => {
  const groups = ["devs", "team/sub", 5, "ops lead", "", "x".repeat(70)];

  expect(identityOf({ ...claims, groups }, byEmail).groups).toEqual(["group-devs"]);
  expect(identityOf({ ...claims, groups: "devs" }, byEmail).groups).toEqual([]);
  expect(identityOf({ ...claims, groups }, { ...byEmail, groups: undefined }).groups).toEqual([]);
});

describe("nobody is let in", () => {
  test.each<[string, Record<string, unknown>, string, RegExp]>([
    ["whose address nobody has verified", { email_verified: false }, "email", /did not verify/],
    [
      "whose address is said to be verified in words",
      { email_verified: "true" },
      "email",
      /did not verify/,
    ],
    ["without the claim", {}, "preferred_username", /said nothing of your `preferred_username`/],
    ["with a list for a name", { name: ["root"] }, "name", /said nothing/],
    ["as anyone", { name: "anyone" }, "name", /no person has/],
    ["as a group", { name: "group-admins" }, "name", /no person has/],
    ["as somebody at a forge", { name: "octocat@GitHub" }, "name", /no person has/],
    ["as the farm at a forge", { name: "forge" }, "name", /no person has/],
    ["with a name that is none", { name: "a b" }, "name", /cannot be a name/],
    ["without a subject", { sub: undefined }, "email", /who you are/],
    ["with an endless subject", { sub: "x".repeat(256) }, "email", /who you are/],
  ])("%s", (_, change, principal, why) => {
    expect(() => identityOf({ ...claims, ...change }, { principal, groups: "groups" })).toThrow(
      why,
    );
  });
});
