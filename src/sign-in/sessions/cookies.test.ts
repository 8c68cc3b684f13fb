import fc from "fast-check";
import { expect, test } from "vitest";
import { isSecretShaped, newSecret } from "./browser-secret.ts";
import { cookieIn, cookieNames, setCookie } from "./cookies.ts";

test("with TLS nobody but this host can set it, and without it another port does not overwrite it", () => {
  expect(cookieNames(new URL("https://farm.example"))).toMatchObject({
    session: "__Host-grange-session",
    isSecure: true,
  });
  expect(cookieNames(new URL("https://farm.example:8443")).session).toBe(
    "__Host-grange-session-8443",
  );
  expect(cookieNames(new URL("http://127.0.0.1:8980"))).toMatchObject({
    session: "grange-session-8980",
    isSecure: false,
  });
});

test("is sent to the whole farm, by no other site's form, and read by no script", () => {
  expect(setCookie("a", "b", { isSecure: true, maxAgeMs: 90_500 })).toBe(
    "a=b; Path=/; Max-Age=90; HttpOnly; SameSite=Lax; Secure",
  );
  expect(setCookie("a", "", { isSecure: false, maxAgeMs: -5 })).toContain("Max-Age=0");
});

test.each([
  [undefined, undefined],
  ["", undefined],
  ["a=1; s=x", "x"],
  ["s=x; a=1", "x"],
  ["s=x=y", "x=y"],
  ["s=", ""],
  ["as=x; sa=y", undefined],
  ["s=x; s=y", undefined],
  ["s=x; s=x", undefined],
  [`s=x; a=${"y".repeat(20_000)}`, undefined],
])("in %j it is %j", (header, expected) => {
  expect(cookieIn(header, "s")).toBe(expected);
});

test("a secret has one way to be written, and is found among any other cookies", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 10 }), { maxLength: 5 }), (others) => {
      const secret = newSecret();
      const safe = others.map((each, n) => `c${n}=${each.replaceAll(/[;s]/g, "")}`);
      expect(isSecretShaped(secret)).toBe(true);
      expect(cookieIn([...safe, `session=${secret}`].join("; "), "session")).toBe(secret);
    }),
  );
  // The last letter has four unused bits: with them set, it is another text for the same bytes.
  expect(isSecretShaped(`${"A".repeat(42)}B`)).toBe(false);
});
