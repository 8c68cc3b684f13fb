import assert from "node:assert/strict";
import { type AuthTarget, goodClaims } from "./auth-target.ts";
import type { HostileCase } from "./case.ts";

/** A secret in a URL, which must be refused before any action, and must not be logged. */
function inAddress(
  name: string,
  pathOf: (secret: string) => string,
  secretOf: (target: AuthTarget) => Promise<string> | string = ({ root }) => root,
): HostileCase<AuthTarget> {
  return {
    name: `a token in an address: ${name}`,
    async run(target) {
      const secret = await secretOf(target);
      const answer = await fetch(`${target.url}${pathOf(secret)}`);
      const told = await answer.text();

      assert.equal(answer.status, 400, told);
      assert.match(told, /the address holds a token/);
      assert.ok(!told.includes(secret), "the answer repeats it");
      assert.ok(!target.logged().includes(secret), "the log has it");
    },
  };
}

const encoded = (text: string) => text.replace("_", "%5F");

export const addressCases: readonly HostileCase<AuthTarget>[] = [
  inAddress("access_token=", (token) => `/api/v1/graphs?access_token=${token}`),
  inAddress("under another name", (token) => `/api/v1/graphs?repository=${token}`),
  inAddress("in the path", (token) => `/api/v1/graphs/${token}`),
  inAddress("of a page", (token) => `/workers?token=${token}`),
  inAddress("percent-encoded", (token) => `/api/v1/graphs?t=${encoded(token)}`),
  inAddress(
    "a signed one",
    (token) => `/api/v1/graphs?jwt=${token}`,
    (target) => target.issuer.sign(goodClaims(target)),
  ),
  inAddress(
    "where it would be a password of its own",
    () => "/api/v1/graphs?api_key=hunter2",
    () => "hunter2",
  ),
  {
    name: "the server's log after all that was refused: reasons, and no secret",
    alone: true,
    async run(target) {
      const browser = await target.signIn();
      const callback = await target.callbackFor(browser);
      await browser.send(callback.href);
      await browser.send(callback.href);
      await target.post("/session/token", { token: `grange_${"x".repeat(43)}` });
      await target.post("/caller", {}, { authorization: "Bearer grange_wrong" });

      const log = target.logged();
      const secrets = [
        target.root,
        `grange_${"x".repeat(43)}`,
        target.provider.clientSecret,
        callback.searchParams.get("code") ?? "",
        callback.searchParams.get("state") ?? "",
        ...browser.cookies.values(),
      ];
      for (const secret of secrets) {
        assert.ok(secret.length > 8);
        assert.ok(!log.includes(secret), "the log has a secret");
      }
      assert.match(log, /was used before|has not begun/);
    },
  },
];
