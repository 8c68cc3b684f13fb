import { generateKeyPairSync } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FakeGitHub, FakeRepository } from "../../../test/support/fake-github/fake-github.ts";
import { startFakeGitHub } from "../../../test/support/fake-github/start-fake-github.ts";
import type { ForgeFinding } from "../forge.ts";
import type { GitHubConfig } from "./github-config.ts";
import { openGitHub } from "./open-github.ts";

let fake: FakeGitHub;
let repository: FakeRepository;
let farm: Server;
let status: number;
const slug = "octo/widgets";

beforeEach(async () => {
  fake = await startFakeGitHub();
  repository = await fake.repository(slug);
  status = 202;
  farm = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(status).end());
  });
  await new Promise<void>((resolve) => {
    farm.listen(0, "127.0.0.1", resolve);
  });
  const { port } = farm.address() as AddressInfo;
  fake.sendWebhooksTo(`http://127.0.0.1:${port}/forge/github/webhooks`, "secret");
});
afterEach(async () => {
  await fake.stop();
  farm.closeAllConnections();
  await new Promise((resolve) => farm.close(resolve));
});

async function examine(
  more: Partial<GitHubConfig> = {},
  of: string | undefined = slug,
): Promise<ForgeFinding[]> {
  await fake.webhooksSent();
  const forge = openGitHub({
    appId: fake.appId,
    privateKey: fake.privateKey,
    api: fake.url,
    readAgainMs: 1,
    ...more,
  });
  try {
    return await forge.examine(of);
  } finally {
    await forge.stop();
  }
}

const wrongs = (findings: readonly ForgeFinding[]) =>
  findings.filter((one) => one.state === "wrong").map((one) => one.what);
const detailOf = (findings: readonly ForgeFinding[], what: string) =>
  findings.find((one) => one.what === what)?.detail ?? "";

test("a correct set-up has no problems in any part", async () => {
  await repository.push("main", { "a.txt": "1" });

  const findings = await examine();

  expect(findings.map((one) => [one.what, one.state])).toEqual(
    [
      "GitHub's API",
      "clock",
      "app",
      "installation",
      "repository",
      "permission metadata",
      "permission contents",
      "permission issues",
      "permission pull_requests",
      "permission checks",
      "event push",
      "event pull_request",
      "event issue_comment",
      "webhook",
      "webhook secret",
      "deliveries",
    ].map((what) => [what, "ok"]),
  );
});

describe("each problem is reported:", () => {
  test("an address that does not answer", async () => {
    const findings = await examine({ api: "http://127.0.0.1:1" });

    expect(wrongs(findings)).toEqual(["GitHub's API"]);
  });

  test("an id that GitHub does not know", async () => {
    const findings = await examine({ appId: "999" });

    expect(wrongs(findings)).toEqual(["app"]);
    expect(detailOf(findings, "app")).toContain("no app 999");
  });

  test("a key of another app", async () => {
    const privateKey = generateKeyPairSync("rsa", { modulusLength: 2_048 })
      .privateKey.export({ type: "pkcs1", format: "pem" })
      .toString();

    const findings = await examine({ privateKey });

    expect(wrongs(findings)).toEqual(["app"]);
    expect(detailOf(findings, "app")).toContain("private key");
  });

  test.each([
    ["ahead of", -600_000],
    ["behind", 600_000],
  ])("a clock that is %s GitHub's", async (word, skewMs) => {
    fake.skewClock(skewMs);

    const findings = await examine();

    expect(wrongs(findings)).toContain("clock");
    expect(detailOf(findings, "clock")).toMatch(new RegExp(`(59[89]|60[012]) s ${word} GitHub`));
  });

  test("a missing installation", async () => {
    await fake.repository("octo/other", { installed: false });

    const findings = await examine({}, "octo/other");

    expect(wrongs(findings)).toContain("installation");
    expect(detailOf(findings, "installation")).toContain("Install App");
  });

  test("each permission and event by its name", async () => {
    fake.setGranted({
      permissions: { metadata: "read", contents: "read", pull_requests: "read" },
      events: ["push"],
    });

    const findings = await examine();

    expect(wrongs(findings)).toEqual([
      "permission issues",
      "permission pull_requests",
      "permission checks",
      "event pull_request",
      "event issue_comment",
    ]);
    expect(detailOf(findings, "permission pull_requests")).toContain("read, but write is needed");
  });

  test("a webhook without an address", async () => {
    fake.sendWebhooksTo(undefined, undefined);

    expect(wrongs(await examine())).toEqual(["webhook"]);
  });

  test("a webhook without a secret", async () => {
    fake.sendWebhooksTo("http://127.0.0.1:1/forge/github/webhooks", undefined);

    expect(wrongs(await examine())).toEqual(["webhook secret"]);
  });

  test("a webhook that GitHub cannot reach", async () => {
    fake.sendWebhooksTo("http://127.0.0.1:1/forge/github/webhooks", "secret");
    await repository.push("main", { "a.txt": "1" });

    const findings = await examine();

    expect(wrongs(findings)).toEqual(["deliveries"]);
    expect(detailOf(findings, "deliveries")).toContain("cannot reach http://127.0.0.1:1");
  });

  test.each([
    [401, "secret is not the one"],
    [404, "is not the farm's URL for webhooks"],
    [500, "its log contains the reason"],
  ])("a webhook that the farm answers with %i", async (answered, expected) => {
    status = answered;
    await repository.push("main", { "a.txt": "1" });

    const findings = await examine();

    expect(wrongs(findings)).toEqual(["deliveries"]);
    expect(detailOf(findings, "deliveries")).toContain(expected);
  });
});

test("without a repository, only the app is checked", async () => {
  const forge = openGitHub({ appId: fake.appId, privateKey: fake.privateKey, api: fake.url });
  const findings = await forge.examine(undefined);
  await forge.stop();

  expect(wrongs(findings)).toEqual([]);
  expect(findings.some((one) => one.what === "installation")).toBe(false);
});
