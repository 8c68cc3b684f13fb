import { expect, test } from "vitest";
import { attemptOfCookie, cookieOfAttempt, newAttempt, secretsOf } from "./sign-in-attempt.ts";

const now = new Date("2024-01-01T12:00:00Z");

test("an attempt is read from its cookie as it was written", () => {
  const attempt = newAttempt(now, "/graphs?state=failed#latest");

  expect(attemptOfCookie(cookieOfAttempt(attempt))).toEqual(attempt);
  expect(attempt.expiresAt).toEqual(new Date("2024-01-01T12:10:00Z"));
});

test.each(["", "abc", "a.b.c", `${"A".repeat(43)}.x.Lw`, `${"A".repeat(43)}.1.Lw.more`])(
  "the cookie %j is no attempt",
  (text) => {
    expect(attemptOfCookie(text)).toBeUndefined();
  },
);

test("a cookie cannot send its browser to another site", () => {
  const { secret } = newAttempt(now, "/");
  const elsewhere = Buffer.from("https://elsewhere.example/").toString("base64url");

  expect(attemptOfCookie(`${secret}.1.${elsewhere}`)?.returnTo).toBe("/");
});

test("the state is another one as soon as time limit or page is another one", () => {
  const attempt = newAttempt(now, "/a");
  const states = [
    attempt,
    { ...attempt, returnTo: "/b" },
    { ...attempt, expiresAt: new Date(0) },
    newAttempt(now, "/a"),
  ].map((each) => secretsOf(each).state);

  expect(new Set(states).size).toBe(4);
});
