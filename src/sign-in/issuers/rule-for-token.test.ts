import { expect, test } from "vitest";
import { ruleFor } from "./rule-for-token.ts";
import type { TrustedIssuer } from "./trusted-issuer.store.ts";

const rule = (name: string, subject: string, principal: string): TrustedIssuer => ({
  name,
  url: "https://ci.example",
  audience: "farm",
  subject,
  principal,
  createdAt: new Date(0),
  createdBy: "root",
});
const main = rule("main", "repo:org/app:ref:refs/heads/main", "ci-main");
const all = rule("all", "repo:org/app:*", "ci-app");
const claims = { subject: "repo:org/app:ref:refs/heads/try", audiences: ["x", "farm"] };

test("the rule that fits says who a token is", () => {
  expect(ruleFor([main, all], claims)).toBe(all);
});

test("of two rules that name different principals neither is chosen", () => {
  const subject = "repo:org/app:ref:refs/heads/main";
  expect(ruleFor([main, all], { ...claims, subject })).toEqual({
    why: "it fits two rules that name different principals: main, all",
  });
  expect(ruleFor([{ ...main, principal: "ci-app" }, all], { ...claims, subject })).toMatchObject({
    principal: "ci-app",
  });
});

test.each([
  [{ ...claims, audiences: [] }, /`aud`/],
  [{ ...claims, audiences: ["farm2"] }, /`aud`/],
  [{ ...claims, subject: "repo:org/application:x" }, /`sub`/],
])("%j fits none", (wrong, why) => {
  expect(ruleFor([main, all], wrong)).toEqual({ why: expect.stringMatching(why) });
});
