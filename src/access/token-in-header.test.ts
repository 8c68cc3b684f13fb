import { describe, expect, test } from "vitest";
import { newToken } from "./secret-token.ts";
import { tokenInHeader } from "./token-in-header.ts";

const token = newToken();
const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;

describe("the token of a header", () => {
  test.each([
    ["is the bearer", `Bearer ${token}`],
    ["is the bearer, however that is written", `bEARER ${token}`],
    ["is Basic's password", basic(`ci:${token}`)],
    ["is Basic's password when there is no user", basic(`:${token}`)],
    ["is all of Basic when there is no colon", basic(token)],
  ])("%s", (_, header) => {
    expect(tokenInHeader(header)).toBe(token);
  });

  test.each([
    ["another scheme", `Digest ${token}`],
    ["a user without a password", basic(`${token}:`)],
    ["two tokens", `Bearer ${token} ${token}`],
    ["two headers in one", `Bearer ${token}, Bearer ${token}`],
    ["no base64", "Basic ####"],
    ["a header without an end", `Basic ${"A".repeat(100_000)}`],
    ["nothing", ""],
  ])("cannot be found in %s", (_, header) => {
    expect(() => tokenInHeader(header)).toThrow(/must be `Bearer ` and one token/);
  });
});
