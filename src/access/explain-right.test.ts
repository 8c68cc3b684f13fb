import { expect, test } from "vitest";
import { grantsAt, verbsGivenBy } from "./explain-right.ts";
import type { NewGrant } from "./principal.ts";

const roles = [
  { name: "viewer", verbs: ["read", "read-logs"] },
  { name: "owner", verbs: ["*"] },
] as const;

const grant = (principal: string, verb: NewGrant["verb"], repository = "*", branch = "*") => ({
  principal,
  verb,
  repository,
  branch,
  priorityCap: null,
  top: false,
});

test.each([
  { verb: "submit", gives: ["submit"] },
  { verb: "role:viewer", gives: ["read", "read-logs"] },
  { verb: "role:gone", gives: [] },
] as const)("a grant of $verb gives $gives", ({ verb, gives }) => {
  expect(verbsGivenBy(grant("bob", verb), roles)).toEqual(gives);
});

test("a grant of * and the role of the owner give all verbs", () => {
  expect(verbsGivenBy(grant("bob", "*"), roles)).toEqual(
    verbsGivenBy(grant("bob", "role:owner"), roles),
  );
  expect(verbsGivenBy(grant("bob", "*"), roles)).toContain("administer");
});

const grants = [
  grant("ann", "*"),
  grant("bob", "role:viewer", "web-*"),
  grant("cat", "submit", "web-1", "try/*"),
];

test.each([
  { at: { repository: "web-1" }, who: ["ann", "bob", "cat"] },
  { at: { repository: "web-1", branch: "main" }, who: ["ann", "bob"] },
  { at: { repository: "web-1", branch: "try/a" }, who: ["ann", "bob", "cat"] },
  { at: { repository: "api" }, who: ["ann"] },
  { at: { repository: "" }, who: ["ann"] },
])("at $at the grants of $who apply", ({ at, who }) => {
  expect([...grantsAt(at, grants, roles).keys()]).toEqual(who);
});
