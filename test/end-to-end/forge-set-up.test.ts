import { generateKeyPairSync, randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { FakeGitHub, FakeRepository } from "../support/fake-github/fake-github.ts";
import { startFakeGitHub } from "../support/fake-github/start-fake-github.ts";
import { type FarmHere, startFarmHere } from "../support/farm-here.ts";
import { freshDatabase } from "../support/fresh-db.ts";
import { runGrange } from "../support/run-grange.ts";

/* `grange forge test` for an App with a mistake: each line with a problem contains a remedy. */

const slug = "octo/demo";
const secret = randomUUID();
const [databaseUrl, otherUrl] = [await freshDatabase(), await freshDatabase()];
let dataDir: string;
let github: FakeGitHub;
let repository: FakeRepository;
let farm: FarmHere;
/** It has the key of another App. */
let mistaken: FarmHere;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-set-up-"));
  github = await startFakeGitHub();
  repository = await github.repository(slug, { files: { "a.txt": "1" } });
  const webhookSecretFile = join(dataDir, "webhook-secret");
  await writeFile(webhookSecretFile, secret);
  const start = async (name: string, database: string, key: string) => {
    const keyFile = join(dataDir, `${name}.pem`);
    await writeFile(keyFile, key);
    const { appId, url: api } = github;
    const forges = { github: { appId, keyFile, webhookSecretFile, api, paceMs: 0 } };
    return startFarmHere({ databaseUrl: database, forges, workers: 0 });
  };
  farm = await start("right", databaseUrl, github.privateKey);
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const another = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
  mistaken = await start("wrong", otherUrl, another);
  hookUp();
  await farm.ask("/forge/repositories", { kind: "github", slug });
});
afterAll(async () => {
  await mistaken?.stop();
  await farm?.stop();
  await github?.stop();
  await rm(dataDir, { recursive: true, force: true });
});
afterEach(hookUp);

function hookUp(): void {
  github.sendWebhooksTo(`${farm.url}/forge/github/webhooks`, secret);
}

/** Returns the problems: lines of the table, as printed. */
async function examined(at = farm, names: readonly string[] = [slug]) {
  await github.webhooksSent();
  const args = ["forge", "test", ...names, "--server", at.url];
  const { code, stdout, stderr } = await runGrange(args);
  // Failures that an earlier test caused are reported until the next check.
  const wrong = stdout
    .split("\n")
    .filter((line) => line.startsWith("WRONG") && !line.includes("the last look at it"));
  return { code, wrong: wrong.join("\n"), count: wrong.length, stderr };
}

test("without problems, the command succeeds", async () => {
  await repository.push("main", { "a.txt": "2" });

  expect(await examined()).toMatchObject({ code: 0, wrong: "", stderr: "" });
});

test("for a key of another app, make a new key and use its file", async () => {
  const { code, count, wrong } = await examined(mistaken, []);

  expect([code, count]).toEqual([1, 1]);
  expect(wrong).toMatch(
    /^WRONG +app +the private key is not one of app \d+ .*make a new key in the app's settings and use its file/,
  );
});

test("for a wrong clock, synchronise the machine's time", async () => {
  github.skewClock(600_000);
  const { code, wrong } = await examined().finally(() => github.skewClock(0));

  expect(code).toBe(1);
  expect(wrong).toMatch(
    /WRONG +clock +this machine is \d+ s behind GitHub, .*synchronise the machine's time/,
  );
});

test("for a different secret at GitHub, set the same one on both sides", async () => {
  github.sendWebhooksTo(`${farm.url}/forge/github/webhooks`, "not the farm's secret");
  await repository.push("main", { "a.txt": "3" });
  const { code, count, wrong } = await examined();

  expect([code, count]).toEqual([1, 1]);
  expect(wrong).toMatch(
    /^WRONG +deliveries .*the farm answered 401, so its webhook secret is not the one that GitHub signs with: give both the same/,
  );
});

test("for a missing permission, set it, and accept it for the installation", async () => {
  await repository.push("main", { "a.txt": "4" });
  github.setGranted({
    permissions: { metadata: "read", contents: "read", issues: "read", pull_requests: "write" },
  });
  const { code, count, wrong } = await examined().finally(() =>
    github.setGranted({
      permissions: {
        metadata: "read",
        contents: "read",
        issues: "read",
        pull_requests: "write",
        checks: "write",
      },
    }),
  );

  expect([code, count]).toEqual([1, 1]);
  expect(wrong).toMatch(
    /^WRONG +permission checks +not granted, but write is needed to report check runs: set it in the app's settings, "Permissions & events", and accept it/,
  );
});

test("for an address that GitHub cannot reach, the address and what works without it", async () => {
  github.sendWebhooksTo("http://127.0.0.1:1/forge/github/webhooks", secret);
  await repository.push("main", { "a.txt": "5" });
  const { code, count, wrong } = await examined();

  expect([code, count]).toEqual([1, 1]);
  expect(wrong).toMatch(
    /^WRONG +deliveries .*GitHub cannot reach http:\/\/127\.0\.0\.1:1\/forge\/github\/webhooks.*the farm finds everything by polling/,
  );
});
