import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import { retryAfterMsOf } from "#forge/forge-busy.ts";
import { openGitHub } from "#forge/github/open-github.ts";
import { needs } from "../needs/needs.ts";
import { packageFile } from "../needs/package-file.ts";
import type { FakeAnswer, FakeGitHub, FakeRepository } from "./fake-github.ts";
import { type JsonSchema, shapeStrays, strays } from "./json-shape.ts";
import { allRoutes } from "./route-table.ts";
import { startFakeGitHub } from "./start-fake-github.ts";
import { exampleOf } from "./webhook-payloads.ts";

const run = promisify(execFile);

interface Received {
  readonly event: string;
  readonly guid: string;
  readonly signature: string;
  readonly text: string;
  readonly payload: Record<string, unknown>;
}

let fake: FakeGitHub;
let repository: FakeRepository;
let listener: Server;
let received: Received[];
let answers: FakeAnswer[];
const secret = "It's a secret to everybody";

beforeEach(async () => {
  answers = [];
  received = [];
  fake = await startFakeGitHub({ seed: 7, onAnswer: (answer) => answers.push(answer) });
  listener = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const text = Buffer.concat(parts).toString();
      received.push({
        event: String(request.headers["x-github-event"]),
        guid: String(request.headers["x-github-delivery"]),
        signature: String(request.headers["x-hub-signature-256"]),
        text,
        payload: JSON.parse(text) as Record<string, unknown>,
      });
      response.writeHead(202).end();
    });
  });
  await new Promise<void>((resolve) => {
    listener.listen(0, "127.0.0.1", resolve);
  });
  const { port } = listener.address() as AddressInfo;
  fake.sendWebhooksTo(`http://127.0.0.1:${port}/forge/github/webhooks`, secret);
  repository = await fake.repository("octo/widgets");
});
afterEach(async () => {
  await fake.stop();
  listener.closeAllConnections();
  await new Promise((resolve) => listener.close(resolve));
});

const actionOf = (payload: Received["payload"]) => payload["action"] as string | undefined;

/** Makes every possible change once. */
async function everyEffect(): Promise<void> {
  const sha = await repository.push("topic", { "a.txt": "1" });
  await repository.tag("v1", sha);
  await repository.deleteRef("refs/heads/topic");
  const own = await repository.openPull({ files: { "b.txt": "1" } });
  const pull = await repository.openPull({ files: { "c.txt": "1" }, fork: "mallory" });
  await repository.movePull(pull, { "c.txt": "2" });
  await repository.movePull(pull, { "c.txt": "3" }, { force: true });
  const comment = await repository.comment(pull, "alice", "@grange bench");
  await repository.editComment(comment, "@grange help");
  await repository.deleteComment(comment);
  await repository.closePull(pull);
  await repository.reopenPull(pull);
  await repository.mergePull(own);
  await fake.ping();
}

/** Makes every possible request of the client once. */
async function everyRequest(): Promise<void> {
  fake.setFaults({});
  const forge = openGitHub({
    appId: fake.appId,
    privateKey: fake.privateKey,
    api: fake.url,
    pace: { writeMs: 0, notifyMs: 0 },
  });
  try {
    const slug = repository.slug;
    const sha = repository.head("refs/heads/main") ?? "";
    await repository.tag("v2", sha);
    const pull = await repository.openPull({ files: { "d.txt": "1" }, fork: "mallory" });
    await forge.refs(slug);
    await forge.defaultBranch(slug);
    await forge.fetchAddress(slug);
    await forge.pullRequests.list(slug, new Date(0));
    await forge.pullRequests.find(slug, pull);
    await forge.pullRequests.permission(slug, "alice");
    const comment = await forge.comments.create(slug, pull, "text");
    await forge.comments.list(slug, new Date(0));
    await forge.comments.ofPull(slug, pull);
    await forge.comments.update(slug, comment.id, "other text");
    await forge.comments.react(slug, comment.id, "rocket");
    await forge.comments.minimise(slug, comment.nodeId);
    await forge.comments.delete(slug, comment.id);
    await forge.labels.add(slug, pull, ["perf-regression"]);
    await forge.labels.list(slug, pull);
    await forge.labels.remove(slug, pull, "perf-regression");
    const check = {
      sha,
      name: "grange",
      externalId: "1",
      detailsUrl: "http://farm.example.org/1",
      state: { kind: "in_progress", startedAt: new Date() },
      title: "Measuring",
      summary: "…",
      annotations: [
        { path: "a.txt", startLine: 1, endLine: 1, level: "notice", message: "slower" },
      ],
    } as const;
    const id = await forge.checks.create(slug, check);
    await forge.checks.update(slug, id, check);
    await forge.checks.list(slug, sha);
    await fake.webhooksSent();
    const [delivery] = await forge.webhooks.redeliveries.list(new Date(0));
    await forge.webhooks.redeliveries.redeliver(delivery?.id ?? "");
    await forge.examine(slug);
  } finally {
    await forge.stop();
  }
}

describe("its responses", () => {
  test("cover every route except one", async () => {
    await everyRequest();

    const asked = new Set(answers.map((answer) => `${answer.method} ${answer.route}`));
    const unasked = allRoutes.map((route) => `${route.method} ${route.path}`);
    expect(unasked.filter((route) => !asked.has(route))).toEqual(["GET /app/installations"]);
  });

  const description = packageFile(
    "GitHub's description of its API",
    "@octokit/openapi/generated/api.github.com.json",
  );
  test("match GitHub's own description", needs(description.need), async () => {
    interface Operation {
      readonly responses: Readonly<
        Record<string, { content?: { "application/json"?: { schema: JsonSchema } }; $ref?: string }>
      >;
    }
    const { paths, components } = JSON.parse(await readFile(description.path, "utf8")) as {
      paths: Record<string, Record<string, Operation>>;
      components: { schemas: Record<string, JsonSchema> };
    };
    const named = (ref: string): JsonSchema =>
      components.schemas[ref.split("/").at(-1) ?? ""] ?? {};

    await everyRequest();

    const found = answers
      .filter((answer) => answer.route !== "/graphql")
      .flatMap((answer) => {
        const operation = paths[answer.route]?.[answer.method.toLowerCase()];
        if (operation === undefined) return [`${answer.method} ${answer.route} is not described`];
        const key = `${answer.method} ${answer.route} ${answer.status}`;
        const response = operation.responses[String(answer.status)];
        if (response === undefined) return [`${key} is no described status`];
        const schema = response.content?.["application/json"]?.schema;
        return schema === undefined || answer.body === undefined
          ? []
          : strays(answer.body, schema, named).map((stray) => `${key}: ${stray}`);
      });
    expect([...new Set(found)]).toEqual([]);

    // Checks that a missing field would be detected.
    const pull = answers.find((answer) => answer.route.endsWith("/pulls/{pull_number}"));
    const { title: _left, ...rest } = (pull?.body ?? {}) as Record<string, unknown>;
    const schema =
      paths[pull?.route ?? ""]?.["get"]?.responses["200"]?.content?.["application/json"]?.schema;
    expect(strays(rest, schema ?? {}, named)).toEqual(["$.title is missing"]);
  });
});

describe("webhooks", () => {
  test("have every field of GitHub's own examples, with the same type", async () => {
    await everyEffect();
    await fake.webhooksSent();

    const found = received.flatMap(({ event, payload }) =>
      shapeStrays(payload, exampleOf(event, actionOf(payload))).map(
        (stray) => `${event} ${actionOf(payload) ?? ""}: ${stray}`,
      ),
    );

    expect([...new Set(found)]).toEqual([]);
    const kinds = new Set(
      received.map(({ event, payload }) => `${event} ${actionOf(payload) ?? ""}`.trim()),
    );
    expect([...kinds].sort()).toEqual([
      "create",
      "delete",
      "issue_comment created",
      "issue_comment deleted",
      "issue_comment edited",
      "ping",
      "pull_request closed",
      "pull_request opened",
      "pull_request reopened",
      "pull_request synchronize",
      "push",
    ]);
  });

  test("contain no data of the examples' repository in important fields", async () => {
    await everyEffect();
    await fake.webhooksSent();

    const hints = received
      .filter((one) => one.event !== "ping")
      .map(({ payload }) => (payload["repository"] as { full_name: string }).full_name);
    expect(new Set(hints)).toEqual(new Set(["octo/widgets"]));
    expect(received.some((one) => one.text.includes('Codertocat/Hello-World/pull/2"'))).toBe(false);
  });

  test("are signed over their exact bytes", async () => {
    await repository.push("main", { "a.txt": "1" });
    await fake.webhooksSent();

    const [one] = received;
    const expected = createHmac("sha256", secret)
      .update(one?.text ?? "")
      .digest("hex");
    expect(one?.signature).toBe(`sha256=${expected}`);
  });

  test("arrive in order without a configured fault", async () => {
    const shas: string[] = [];
    for (let at = 0; at < 20; at++) shas.push(await repository.push("main", { "a.txt": `${at}` }));
    await fake.webhooksSent();

    expect(received.map((one) => one.payload["after"])).toEqual(shas);
  });

  test("are lost, duplicated and reordered by their shares, and a lost one can be requested again", async () => {
    fake.setFaults({ webhookLoss: 0.3, webhookDouble: 0.2, webhookReorder: 0.2 });
    const shas: string[] = [];
    for (let at = 0; at < 200; at++) shas.push(await repository.push("main", { "a.txt": `${at}` }));
    await fake.webhooksSent();

    const seen = received.map((one) => String(one.payload["after"]));
    const counts = fake.webhookCounts();
    expect(counts.made).toBe(200);
    expect(counts.lost).toBeGreaterThan(40);
    expect(counts.lost).toBeLessThan(80);
    expect(counts.doubled).toBeGreaterThan(10);
    expect(seen).toHaveLength(200 - counts.lost + counts.doubled);
    expect(new Set(seen).size).toBe(200 - counts.lost);
    const order = seen.map((sha) => shas.indexOf(sha));
    expect(order.filter((at, place) => at < (order[place - 1] ?? 0)).length).toBeGreaterThan(5);
    expect(new Set(received.map((one) => one.guid)).size).toBe(200 - counts.lost);

    fake.clearFaults();
    const forge = openGitHub({
      appId: fake.appId,
      privateKey: fake.privateKey,
      api: fake.url,
      pace: { writeMs: 0 },
    });
    const listed = await forge.webhooks.redeliveries.list(new Date(0));
    const missed = listed.filter((one) => !one.wasTaken);
    for (const one of missed) await forge.webhooks.redeliveries.redeliver(one.id);
    await fake.webhooksSent();
    await forge.stop();

    // The other half cannot be requested: only reconciliation finds it.
    expect(missed.length).toBeGreaterThan(10);
    expect(missed.length).toBeLessThan(counts.lost);
    expect(new Set(received.map((one) => one.guid)).size).toBe(200 - counts.lost + missed.length);
  });
});

describe("faults", () => {
  test("leave exactly one comment and one check if the client looks before it writes again", async () => {
    const forge = openGitHub({
      appId: fake.appId,
      privateKey: fake.privateKey,
      api: fake.url,
      pace: { writeMs: 0, notifyMs: 0 },
      waitLimitMs: 0,
      readAgainMs: 1,
    });
    const { slug } = repository;
    const pulls: number[] = [];
    for (let at = 0; at < 25; at++)
      pulls.push(await repository.openPull({ files: { [`${at}.txt`]: "1" }, fork: `user${at}` }));
    fake.setFaults({
      serverError: 0.1,
      badGateway: 0.05,
      secondaryLimit: 0.03,
      retryAfterSeconds: 0.05,
      timeoutAfterSuccess: 0.2,
      errorAfterSuccess: 0.2,
      hangMs: 10,
    });
    let failures = 0;
    const persistently = async <Answer>(doing: () => Promise<Answer>): Promise<Answer> => {
      for (;;) {
        try {
          return await doing();
        } catch (reason) {
          if (!(reason instanceof Fault) || reason.code !== "unavailable") throw reason;
          failures++;
          await new Promise((resolve) => setTimeout(resolve, retryAfterMsOf(reason) ?? 5));
        }
      }
    };

    await Promise.all(
      pulls.map(async (pull) => {
        const marker = `<!-- pull ${pull} -->`;
        await persistently(async () => {
          const all = await forge.comments.ofPull(slug, pull);
          if (!all.some((one) => one.isOurs && one.body.includes(marker)))
            await forge.comments.create(slug, pull, marker);
        });
        const sha = repository.pullState(pull).head;
        await persistently(async () => {
          if ((await forge.checks.list(slug, sha)).length === 0)
            await forge.checks.create(slug, {
              sha,
              name: "grange",
              externalId: String(pull),
              detailsUrl: "http://farm.example.org",
              state: { kind: "queued" },
              title: "Waiting",
              summary: "…",
              annotations: [],
            });
        });
      }),
    );
    await forge.stop();

    expect(pulls.map((pull) => repository.comments(pull).length)).toEqual(pulls.map(() => 1));
    expect(pulls.map((pull) => repository.checks(repository.pullState(pull).head).length)).toEqual(
      pulls.map(() => 1),
    );
    expect(fake.ledger).toHaveLength(50);
    expect(failures).toBeGreaterThan(10);
  });
});

describe("repositories", () => {
  test("are complete for Git, and can be fetched with the heads of pull requests", async () => {
    await everyEffect();
    const git = async (...words: string[]) => (await run("git", words)).stdout.trim();

    await git("-C", repository.path, "fsck", "--strict");
    const listed = await git("ls-remote", repository.cloneUrl);
    const { stdout } = await run("git", ["-C", repository.path, "show", "refs/pull/2/head:c.txt"]);

    expect(stdout).toBe("3");
    expect(listed).toContain(`${repository.pullState(2).head}\trefs/pull/2/head`);
    expect(listed).toContain(`${repository.head("refs/heads/main")}\trefs/heads/main`);
    expect(listed).not.toContain("refs/heads/topic\n");
    expect(await git("-C", repository.path, "log", "--format=%s", "-1", "main")).toBe(
      "Merge pull request #1",
    );
  });
});
