import assert from "node:assert/strict";
import { createHmac, randomUUID } from "node:crypto";
import type { HostileCase, HostileSuite } from "./case.ts";
import { type ClosedFarm, openClosedFarm, webhookSecrets } from "./closed-farm.ts";

type Case = HostileCase<ClosedFarm>;

const push = (name = "mallory/mine") => JSON.stringify({ repository: { full_name: name } });
const signed = (body: string | Uint8Array, secret: string = webhookSecrets[0]) =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

interface Sent {
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** Headers in addition to the correct ones or in place of them; undefined removes one. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

async function send({ url }: ClosedFarm, { body = push(), headers = {} }: Sent) {
  const all = {
    "content-type": "application/json",
    "x-github-event": "push",
    "x-github-delivery": randomUUID(),
    "x-hub-signature-256": signed(body),
    ...headers,
  };
  const given = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const answer = await fetch(`${url}/forge/github/webhooks`, {
    method: "POST",
    body,
    headers: Object.fromEntries(given),
  });
  const text = await answer.text();
  for (const secret of webhookSecrets) assert.equal(text.includes(secret), false);
  return { status: answer.status, text };
}

function refused(name: string, status: number | readonly number[], sent: () => Sent): Case {
  return {
    name,
    async run(farm) {
      const got = await send(farm, sent());
      assert([status].flat().includes(got.status), `${got.status} ${got.text}`);
    },
  };
}

const withSignature = (value: string | undefined): Sent => ({
  headers: { "x-hub-signature-256": value },
});

const cases: readonly Case[] = [
  refused("no signature", 401, () => withSignature(undefined)),
  refused("an empty signature", 401, () => withSignature("")),
  refused("a signature that was made up", 401, () => withSignature(`sha256=${"0".repeat(64)}`)),
  refused("a signature by SHA-1, as it once was", 401, () => ({
    headers: {
      "x-hub-signature-256": undefined,
      "x-hub-signature": `sha1=${createHmac("sha1", webhookSecrets[0]).update(push()).digest("hex")}`,
    },
  })),
  refused("a SHA-1 under the name of SHA-256", 401, () =>
    withSignature(`sha256=${createHmac("sha1", webhookSecrets[0]).update(push()).digest("hex")}`),
  ),
  refused("the right signature of another body", 401, () => withSignature(signed(push("root/x")))),
  refused("the right signature cut short", 401, () => withSignature(signed(push()).slice(0, -2))),
  refused("the right signature in capitals", 401, () =>
    withSignature(signed(push()).toUpperCase()),
  ),
  refused("the right signature twice", 401, () =>
    withSignature(`${signed(push())}, ${signed(push())}`),
  ),
  refused("a signature with an empty secret", 401, () => withSignature(signed(push(), ""))),
  refused("a signature with a secret that was never ours", 401, () =>
    withSignature(signed(push(), "guessed")),
  ),
  refused("a body that is no JSON and not signed is not parsed", 401, () => ({
    body: "{",
    ...withSignature(undefined),
  })),
  refused("a body of 30 MB that is not signed", 401, () => ({
    body: new Uint8Array(30 * 1_048_576),
    ...withSignature(undefined),
  })),
  refused("a body of 30 MB with a signature that was made up", 413, () => ({
    body: new Uint8Array(30 * 1_048_576),
    ...withSignature(`sha256=${"0".repeat(64)}`),
  })),
  refused("a signed body of 30 MB", 413, () => ({ body: new Uint8Array(30 * 1_048_576) })),
  refused("a signed form", 400, () => ({
    body: `payload=${encodeURIComponent(push())}`,
    headers: { "content-type": "application/x-www-form-urlencoded" },
  })),
  refused("signed, without a content type", 400, () => ({
    body: new TextEncoder().encode(push()),
    headers: { "content-type": undefined },
  })),
  refused("a signed body that is no JSON", 400, () => ({ body: "{" })),
  refused("a signed body 100,000 deep", 400, () => ({ body: "[".repeat(100_000) })),
  refused("signed bytes that are no UTF-8", 400, () => ({
    body: new Uint8Array([0x22, 0xff, 0x22]),
  })),
  refused("signed, without an event", 400, () => ({ headers: { "x-github-event": undefined } })),
  refused("an event whose name is a path", 400, () => ({
    headers: { "x-github-event": "../push" },
  })),
  refused("a delivery whose id is SQL", 400, () => ({
    headers: { "x-github-delivery": "' or 1=1 --" },
  })),
  refused("a repository whose name climbs", [200, 202, 400], () => ({ body: push("../../etc") })),
  refused("a repository's name with markup", 400, () => ({ body: push("<b>/x") })),
  refused("a pull request numbered 10^99", 400, () => ({
    body: '{"repository":{"full_name":"a/b"},"pull_request":{"number":1e99,"head":{"sha":"x"}}}',
    headers: { "x-github-event": "pull_request" },
  })),
  refused("keys of a prototype", 400, () => ({
    body: '{"__proto__":{"repository":{"full_name":"a/b"}},"constructor":1}',
  })),
  {
    name: "one delivery sent five times simultaneously is accepted once",
    async run(farm) {
      const headers = { "x-github-delivery": randomUUID() };
      const body = push(`mallory/${randomUUID()}`);
      const sends = Array.from({ length: 5 }, () => send(farm, { headers, body }));
      const answers = await Promise.all(sends);
      const kept = answers.filter(({ status }) => status === 202);
      assert.equal(kept.length, 1, JSON.stringify(answers));
      // With another body and a correct signature, it is still the same delivery.
      const again = await send(farm, { headers, body: push("root/other") });
      assert.equal(again.status, 200, again.text);
    },
  },
  {
    name: "while a secret is replaced, the one before is good, and no third",
    async run(farm) {
      // A new body: one that was accepted already counts once, with any delivery id.
      const body = push(`mallory/${randomUUID()}`);
      const old = await send(farm, { body, ...withSignature(signed(body, webhookSecrets[1])) });
      assert.equal(old.status, 202, old.text);
    },
  },
  {
    name: "20 simultaneous unsigned bodies of 24 MB",
    alone: true,
    async run(farm) {
      const body = new Uint8Array(24 * 1_048_576);
      const many = farm.full ? 20 : 6;
      const sent = withSignature(`sha256=${"0".repeat(64)}`);
      const answers = await Promise.all(
        Array.from({ length: many }, () =>
          send(farm, { body, ...sent }).then(
            ({ status }) => status,
            // Closed while it is sent: refused as well.
            () => 503,
          ),
        ),
      );
      for (const status of answers) assert([401, 413, 503].includes(status), String(status));
      assert.equal((await farm.ask("/server")).status, 200);
    },
  },
];

export const webhookSuite: HostileSuite<ClosedFarm> = {
  interface: "webhooks of forges",
  atLeast: 15,
  cases,
  open: openClosedFarm,
};
