import assert from "node:assert/strict";
import { generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { newJobToken } from "#access/job-tokens/job-token.ts";
import { ContentAddressableStorage } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { frameOf } from "../build-tools/hostile-target.ts";
import type { HostileCase, HostileSuite } from "./case.ts";
import { type ClosedFarm, openClosedFarm } from "./closed-farm.ts";

type Case = HostileCase<ClosedFarm>;

const { privateKey } = generateKeyPairSync("ed25519");
/** Signs as a farm would, with a key that is not this farm's. */
const foreign = { sign: (bytes: Uint8Array) => sign(null, bytes, privateKey) };
const forged = newJobToken(foreign, { executionId: randomUUID(), epoch: 1 });
const body = forged.slice("grange_job_".length);

const tokens: readonly (readonly [name: string, token: string])[] = [
  ["of another farm", forged],
  ["without its signature", `grange_job_${body.slice(0, 32)}`],
  ["with a signature of zeros", `grange_job_${body.slice(0, 32)}${"A".repeat(86)}`],
  ["cut by one character", forged.slice(0, -1)],
  ["with one byte more", `${forged}AA`],
  ["with padding", `${forged}==`],
  ["in capitals", forged.toUpperCase()],
  ["in base64 of another alphabet", `grange_job_${"+/".repeat(59)}`],
  ["that is empty", "grange_job_"],
  ["with a line break in it", `${forged.slice(0, 40)}%0a${forged.slice(40)}`],
  ["twice", `${forged},${forged}`],
  ["of a thousand characters", `grange_job_${"A".repeat(1_000)}`],
];

/** Another caller for each attempt, so that the limit of wrong tokens answers none of them. */
const from = () => ({ "x-forwarded-for": `198.51.${byte()}.${byte()}` });
const byte = () => Math.floor(Math.random() * 254) + 1;

async function refused(farm: ClosedFarm, path: string, token: string, init: RequestInit = {}) {
  const headers = { authorization: `Bearer ${token}`, ...from() };
  const answer = await fetch(`${farm.url}${path}`, { ...init, headers });
  const text = await answer.text();
  assert.equal(answer.status, 401, `${answer.status} ${text}`);
  assert.equal(text.includes(token), false, "the answer repeats the token");
}

const places: readonly (readonly [
  where: string,
  attempt: (farm: ClosedFarm, token: string) => Promise<void>,
])[] = [
  ["at the API", (farm, token) => refused(farm, "/api/v1/caller", token)],
  [
    "to read a cache",
    (farm, token) => refused(farm, `/cache/mallory/gradle/${"ab".repeat(16)}`, token),
  ],
  [
    "to write a cache",
    (farm, token) =>
      refused(farm, `/cache/mallory/gradle/${"ab".repeat(16)}`, token, {
        method: "PUT",
        body: "x",
      }),
  ],
  ["for an identity", (farm, token) => refused(farm, "/identity/token?audience=a", token)],
  [
    "over gRPC",
    async (farm, token) => {
      const headers = { authorization: `Bearer ${token}`, ...from() };
      const { findMissingBlobs } = ContentAddressableStorage.method;
      const code = await farm.raw(findMissingBlobs, [frameOf(Buffer.of())], { headers });
      assert.equal(code, "unauthenticated");
    },
  ],
];

const callers: readonly Case[] = [
  ["nobody", () => ({})],
  ["the owner of the farm", (farm: ClosedFarm) => ({ authorization: `Bearer ${farm.root}` })],
  ["a user", (farm: ClosedFarm) => ({ authorization: `Bearer ${farm.mallory}` })],
  ["a cookie", () => ({ cookie: "grange_session=x" })],
  ["a share link", () => ({ "x-grange-share": "x".repeat(43) })],
].map(([name, headersOf]) => ({
  name: `an identity for ${String(name)}, who is no job`,
  async run(farm) {
    const headers = (headersOf as (farm: ClosedFarm) => Record<string, string>)(farm);
    const answer = await fetch(`${farm.url}/identity/token?audience=sts.example`, { headers });
    assert.equal(answer.status, 401, await answer.text());
    assert.equal(answer.headers.get("cache-control"), "no-store");
  },
}));

/** The farm's name as an issuer decides which farm a cloud trusts. */
const discovery: readonly Case[] = [
  ["x-forwarded-host", "evil.example"],
  ["x-forwarded-proto", "javascript"],
  ["forwarded", "host=evil.example"],
  ["x-original-url", "https://evil.example/"],
  ["origin", "https://evil.example"],
].map(([header = "", value = ""]) => ({
  name: `the issuer's name by the header ${header}`,
  async run(farm) {
    for (const path of ["/.well-known/openid-configuration", "/.well-known/jwks.json"]) {
      const answer = await fetch(`${farm.url}${path}`, { headers: { [header]: value } });
      const text = await answer.text();
      assert.equal(answer.status, 200, text);
      assert.equal(/evil|javascript/.test(text), false);
      // Only public parts of keys: RFC 7518 names the private ones d, p, q, dp, dq, qi, k.
      assert.equal(/"(d|p|q|dp|dq|qi|k)":/.test(text), false, "a private key is published");
    }
  },
}));

export const jobTokenSuite: HostileSuite<ClosedFarm> = {
  interface: "tokens and identities of jobs",
  atLeast: 60,
  cases: [
    ...places.flatMap(([where, attempt]) =>
      tokens.map(
        ([name, token]): Case => ({
          name: `a job's token ${name}, ${where}`,
          run: (farm) => attempt(farm, token),
        }),
      ),
    ),
    ...callers,
    ...discovery,
  ],
  open: openClosedFarm,
};
