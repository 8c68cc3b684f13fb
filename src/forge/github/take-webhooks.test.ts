import { createHmac, randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import webhookExamples from "@octokit/webhooks-examples" with { type: "json" };
import { afterAll, describe, expect, test } from "vitest";
import { systemClock } from "#core/clock.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { latestDeliveries } from "../delivery.store.ts";
import { type RawWebhook, takeWebhook } from "../webhooks/take-webhook.ts";
import { mostWebhookBytes, WebhookBodies } from "../webhooks/webhook-bodies.ts";
import { readWebhook } from "./read-webhook.ts";
import { takeWebhooks } from "./take-webhooks.ts";
import { checkSignature } from "./webhook-signature.ts";

const db = await freshDb();
afterAll(() => db.close());

const secret = "a secret of 32 characters or more";
const older = "the one that was there before it!";
const services = {
  db,
  clock: systemClock,
  bodies: new WebhookBodies(tmpdir()),
};

const gitHub = (secrets: readonly string[]) => ({
  kind: "github",
  webhooks: takeWebhooks(secrets),
});
const take = (raw: RawWebhook, at = services) => takeWebhook(at, gitHub([secret, older]), raw);

interface Sent {
  readonly signature: string | undefined;
  readonly event: string | undefined;
  readonly delivery: string | undefined;
  readonly contentType: string | undefined;
  readonly body: RawWebhook["body"];
}

const bodyOf = (bytes: Uint8Array<ArrayBuffer>): RawWebhook["body"] => ({
  statedBytes: bytes.byteLength,
  // A stream can be read only once, but a webhook may be sent twice.
  get stream() {
    return new Blob([bytes]).stream();
  },
});

function webhook(body: unknown, by = secret, more: Partial<Sent> = {}): RawWebhook {
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const sent: Sent = {
    signature: `sha256=${createHmac("sha256", by).update(bytes).digest("hex")}`,
    event: "push",
    delivery: randomUUID(),
    contentType: "application/json",
    body: bodyOf(bytes),
    ...more,
  };
  const headers: Readonly<Record<string, string | undefined>> = {
    "x-hub-signature-256": sent.signature,
    "x-github-event": sent.event,
    "x-github-delivery": sent.delivery,
    "content-type": sent.contentType,
  };
  return { header: (name) => headers[name], body: sent.body };
}

const push = { repository: { full_name: "Owner/Name" }, ref: "refs/heads/main" };
const codeOf = (raw: RawWebhook) =>
  take(raw).then(
    (taken) => taken,
    (reason: { code?: string }) => reason.code,
  );

describe("a webhook", () => {
  test("is stored for the repository that it names, and counts once by its delivery id", async () => {
    const raw = webhook(push);
    const taken = [await take(raw), await take(raw)];
    const [kept] = await latestDeliveries(db, { kind: "github", slug: "owner/name" }, 10);

    expect(taken).toEqual(["kept", "known"]);
    expect(kept).toMatchObject({
      id: raw.header("x-github-delivery"),
      event: "push",
      state: "waiting",
    });
  });

  test("counts once within an hour under any id, because the id is not signed", async () => {
    let now = new Date("2030-01-01T00:00:00Z");
    const at = { ...services, clock: { now: () => now } };
    const body = { ...push, after: randomUUID() };
    const again = () => take(webhook(body), at);

    const atOnce = await Promise.all(Array.from({ length: 10 }, again));
    const otherEvent = await take(webhook(body, secret, { event: "create" }), at);
    now = new Date("2030-01-01T01:00:01Z");
    const later = await again();

    expect(atOnce.filter((taken) => taken === "kept")).toHaveLength(1);
    expect(atOnce.filter((taken) => taken === "known")).toHaveLength(9);
    expect(otherEvent).not.toBe("kept");
    expect(later).toBe("kept");
  });

  test("signed with the old secret during a replacement is accepted, too", async () => {
    expect(await codeOf(webhook({ ...push, after: "older" }, older))).toBe("kept");
  });

  test.each([
    { what: "none", more: { signature: undefined } },
    { what: "SHA-1's", more: { signature: "sha1=0123456789012345678901234567890123456789" } },
    { what: "an empty one", more: { signature: "sha256=" } },
    { what: "one of capital letters", more: { signature: `sha256=${"A".repeat(64)}` } },
    { what: "another's", more: { signature: `sha256=${"0".repeat(64)}` } },
    { what: "that of another body", more: { body: bodyOf(Buffer.from("{}")) } },
  ])("with a signature that is $what is refused before it is parsed", async ({ more }) => {
    expect(await codeOf(webhook(push, secret, more))).toBe("unauthenticated");
    expect(await codeOf(webhook("{ not JSON", secret, { ...more, signature: "x" }))).toBe(
      "unauthenticated",
    );
  });

  test.each([
    { what: "no delivery", raw: webhook(push, secret, { delivery: undefined }) },
    { what: "an invalid delivery id", raw: webhook(push, secret, { delivery: "a'; drop table" }) },
    { what: "no event", raw: webhook(push, secret, { event: undefined }) },
    {
      what: "a form",
      raw: webhook(push, secret, { contentType: "application/x-www-form-urlencoded" }),
    },
    { what: "text that is not JSON", raw: webhook("hello") },
    { what: "bytes that are no text", raw: webhook("\uD800") },
    { what: "no repository", raw: webhook({ ref: "x" }) },
    {
      what: "a repository that is a path",
      raw: webhook({ repository: { full_name: "../../etc" } }),
    },
  ])("that has $what is refused in words", async ({ raw }) => {
    const code = await codeOf(raw);

    expect(code).toMatch(/^(invalid_argument|unauthenticated)$/);
  });

  test("that is too large is rejected by its stated size", async () => {
    const body = bodyOf(Buffer.alloc(mostWebhookBytes + 1));

    expect(await codeOf(webhook(push, secret, { body }))).toBe("resource_exhausted");
  });

  test("is rejected when no secret is configured", async () => {
    await expect(takeWebhook(services, gitHub([]), webhook(push))).rejects.toMatchObject({
      code: "failed_precondition",
    });
  });

  test("of an irrelevant event is accepted, and not stored", async () => {
    const before = await latestDeliveries(db, undefined, 100);
    const taken = await codeOf(
      webhook({ zen: "Keep it logically awesome." }, secret, { event: "ping" }),
    );

    expect(taken).toBe("nothing");
    expect(await latestDeliveries(db, undefined, 100)).toHaveLength(before.length);
  });
});

describe("GitHub's own examples", () => {
  const examples = webhookExamples as unknown as { name: string; examples: unknown[] }[];
  const of = (event: string) => examples.find(({ name }) => name === event)?.examples ?? [];

  test("of every event are parsed", () => {
    const hints = examples.flatMap(({ name, examples: all }) =>
      all.map((each) => readWebhook(name, each).hint.about),
    );

    expect(hints.length).toBeGreaterThan(100);
    expect(new Set(hints)).toEqual(new Set(["refs", "pull", "all", "nothing"]));
  });

  test("of pull requests name the head, and its time", () => {
    const [read] = of("pull_request").map((each) => readWebhook("pull_request", each));

    expect(read).toMatchObject({
      slug: "codertocat/hello-world",
      hint: {
        about: "pull",
        headAt: { head: expect.stringMatching(/^[0-9a-f]{40}$/) },
      },
    });
  });

  test("comments on pull requests are used; comments on issues, like all examples, are not", () => {
    const [onIssue] = of("issue_comment") as { issue: object }[];
    const onPull = { ...onIssue, issue: { ...onIssue?.issue, pull_request: { url: "https://x" } } };
    const about = (body: unknown) => readWebhook("issue_comment", body).hint.about;

    expect([about(onIssue), about(onPull)]).toEqual(["nothing", "comments"]);
  });
});

test("a signature is compared with every secret, whether or not one matches", () => {
  const header = `sha256=${createHmac("sha256", older).update("x").digest("hex")}`;
  const isSigned = (secrets: readonly string[]) => {
    const check = checkSignature(header, secrets);
    check?.add(Buffer.from("x"));
    return check?.isRight();
  };

  expect(isSigned([secret, older])).toBe(true);
  expect(isSigned([secret])).toBe(false);
  expect(isSigned([])).toBe(false);
});
