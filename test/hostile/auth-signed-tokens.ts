import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { generateKeyPair } from "jose";
import { type AuthTarget, goodClaims } from "./auth-target.ts";
import type { HostileCase } from "./case.ts";

type Forge = (target: AuthTarget) => Promise<string> | string;

/** A token that must be refused for reading and for all other calls, with this reason. */
function refused(name: string, forge: Forge, why: RegExp): HostileCase<AuthTarget> {
  return {
    name: `a signed token ${name}`,
    async run(target) {
      const token = await forge(target);
      const authorization = `Bearer ${token}`;
      const read = await fetch(`${target.url}/api/v1/caller`, { headers: { authorization } });
      const told = await read.text();
      const changed = await target.post(
        "/drains",
        { pattern: "x", reason: "y" },
        { authorization },
      );

      assert.equal(read.status, 401, told);
      assert.match(told, why);
      assert.equal(changed.status, 401);
      assert.ok(!told.includes(token), "the answer repeats the token");
      const signature = token.split(".")[2] ?? "";
      assert.ok(signature === "" || !target.logged().includes(signature), "the log has the token");
    },
  };
}

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const now = () => Math.floor(Date.now() / 1_000);

/** Returns a token with the given header and claims, and any signature. */
function madeUp(header: object, claims: object, signature = "AAAA"): string {
  return `${part(header)}.${part(claims)}.${signature}`;
}

function hmac(target: AuthTarget, key: string): string {
  const claims = { iss: target.issuer.url, iat: now(), exp: now() + 60, ...goodClaims(target) };
  const signed = `${part({ alg: "HS256", kid: target.issuer.kid })}.${part(claims)}`;
  return `${signed}.${createHmac("sha256", key).update(signed).digest("base64url")}`;
}

const claimsOf = (target: AuthTarget, more: object = {}) => ({
  iss: target.issuer.url,
  iat: now(),
  exp: now() + 60,
  ...goodClaims(target),
  ...more,
});
const signedWith =
  (change: (target: AuthTarget) => Record<string, unknown>): Forge =>
  (target) =>
    target.issuer.sign({ ...goodClaims(target), ...change(target) });
const headedBy =
  (header: Record<string, unknown>): Forge =>
  (target) =>
    target.issuer.sign(goodClaims(target), { header });

export const signedTokenCases: readonly HostileCase<AuthTarget>[] = [
  {
    name: "a signed token that is good is taken: the others are refused for what is wrong with them",
    async run(target) {
      const token = await target.issuer.sign(goodClaims(target));
      const answer = await fetch(`${target.url}/api/v1/caller`, {
        headers: { authorization: `Bearer ${token}` },
      });
      assert.equal(((await answer.json()) as { name: string }).name, "ci-app");
    },
  },
  refused(
    "of alg none, without a signature",
    (t) => madeUp({ alg: "none" }, claimsOf(t), ""),
    /three parts/,
  ),
  refused("of alg none, with one", (t) => madeUp({ alg: "none" }, claimsOf(t)), /no algorithm/),
  refused("of alg nOnE", (t) => madeUp({ alg: "nOnE" }, claimsOf(t)), /no algorithm/),
  refused(
    "of HS256, with the public key in PEM as the secret",
    (t) => hmac(t, t.issuer.publicPem),
    /no algorithm/,
  ),
  refused("of HS256, with an empty secret", (t) => hmac(t, ""), /no algorithm/),
  refused("whose kid is a path", headedBy({ kid: "../../../../dev/null" }), /no such key/),
  refused("whose kid is SQL", headedBy({ kid: "key-1' or '1'='1" }), /no such key/),
  refused(
    "whose kid is no text",
    (t) => madeUp({ alg: "RS256", kid: { $ne: 1 } }, claimsOf(t)),
    /no algorithm/,
  ),
  refused(
    "that brings the address of its key along (jku)",
    headedBy({ jku: "http://127.0.0.1:9/keys" }),
    /`jku`/,
  ),
  refused(
    "that brings a certificate's address along (x5u)",
    headedBy({ x5u: "http://127.0.0.1:9/c" }),
    /`x5u`/,
  ),
  refused(
    "that brings its own key along (jwk)",
    async (target) => {
      const { privateKey } = await generateKeyPair("RS256", { extractable: true });
      return target.issuer.sign(goodClaims(target), {
        key: privateKey,
        header: { jwk: { kty: "RSA", n: "AQAB", e: "AQAB" } },
      });
    },
    /`jwk`/,
  ),
  refused(
    "that asks for what nobody understands (crit)",
    (t) => madeUp({ alg: "RS256", crit: ["x"] }, claimsOf(t)),
    /`crit`/,
  ),
  refused(
    "for another audience",
    signedWith(() => ({ aud: "https://elsewhere.example" })),
    /`aud`/,
  ),
  refused(
    "for no audience",
    signedWith(() => ({ aud: undefined })),
    /`aud`/,
  ),
  refused(
    "of an issuer that nobody trusts",
    signedWith(() => ({ iss: "https://evil.example" })),
    /does not trust its issuer/,
  ),
  refused(
    "of an issuer whose address has a slash more",
    signedWith((t) => ({ iss: `${t.issuer.url}/` })),
    /does not trust/,
  ),
  refused(
    "whose issuer is a list",
    signedWith((t) => ({ iss: [t.issuer.url] })),
    /who issued it/,
  ),
  refused(
    "that ran out",
    signedWith(() => ({ iat: now() - 600, exp: now() - 300 })),
    /has expired/,
  ),
  refused(
    "that never runs out",
    signedWith(() => ({ exp: undefined })),
    /`exp`/,
  ),
  refused(
    "that is good for ten years",
    signedWith(() => ({ exp: now() + 10 * 365 * 86_400 })),
    /more than a day/,
  ),
  refused(
    "that is not good yet",
    signedWith(() => ({ nbf: now() + 600 })),
    /`nbf`/,
  ),
  refused(
    "that was issued tomorrow",
    signedWith(() => ({ iat: now() + 80_000, exp: now() + 86_000 })),
    /`iat`/,
  ),
  refused(
    "without a subject",
    signedWith(() => ({ sub: undefined })),
    /`sub`/,
  ),
  refused(
    "of another repository",
    signedWith(() => ({ sub: "repo:org/application:x" })),
    /fits no rule/,
  ),
  refused(
    "of a subject with ours inside it",
    signedWith(() => ({ sub: "repo:evil/x:repo:org/app:x" })),
    /fits no rule/,
  ),
  refused(
    "with claims that were changed after it was signed",
    async (target) => {
      const [header, , signature] = (await target.issuer.sign(goodClaims(target))).split(".");
      return `${header}.${part(claimsOf(target, { sub: "repo:org/app:admin" }))}.${signature}`;
    },
    /signature is wrong/,
  ),
  refused(
    "signed by another key under the issuer's name",
    async (target) => {
      const { privateKey } = await generateKeyPair("RS256");
      return target.issuer.sign(goodClaims(target), { key: privateKey });
    },
    /signature is wrong/,
  ),
  refused(
    "signed by one trusted issuer in the name of the other",
    (target) => target.otherIssuer.sign({ ...goodClaims(target), iss: target.issuer.url }),
    /no such key/,
  ),
  refused(
    "that is encrypted, of five parts",
    (t) => `${madeUp({ alg: "dir", enc: "A128GCM" }, claimsOf(t))}.AA.AA`,
    /three parts/,
  ),
  refused(
    "of 10,000 characters",
    (t) => madeUp({ alg: "RS256" }, claimsOf(t, { x: "x".repeat(9_000) })),
    /longer than/,
  ),
  refused("whose claims are no JSON", () => `${part({ alg: "RS256" })}.eyJ.AAAA`, /who issued it/),
  refused(
    "of the identity provider, made for signing people in",
    (target) =>
      target.issuer.sign({
        ...goodClaims(target),
        iss: target.provider.issuer,
        aud: target.provider.clientId,
      }),
    /does not trust its issuer/,
  ),
];
