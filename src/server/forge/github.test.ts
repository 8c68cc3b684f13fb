import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { ForgeExamination, ForgeRepositoryDetail } from "#api/forge.ts";
import { GraphSummary } from "#api/graph.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { askServer } from "../../../test/support/ask-server.ts";
import type { FakeGitHub, FakeRepository } from "../../../test/support/fake-github/fake-github.ts";
import { startFakeGitHub } from "../../../test/support/fake-github/start-fake-github.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { readServerConfig } from "../config.ts";
import { type RunningServer, startServer } from "../start-server.ts";

const databaseUrl = await freshDatabase();
const secret = "of a webhook, and long enough to be one";
let dataDir: string;
let github: FakeGitHub;
let server: RunningServer;
let db: Db;

// Several servers and real Git run at the same time, which is slow on a busy machine.

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-github-"));
  github = await startFakeGitHub();
  const keyFile = join(dataDir, "app.pem");
  const webhookSecretFile = join(dataDir, "webhook-secret");
  await writeFile(keyFile, github.privateKey);
  await writeFile(webhookSecretFile, `${secret}\n`);
  const config = readServerConfig(
    {
      dataDir,
      databaseUrl,
      port: 0,
      host: "127.0.0.1",
      forges: {
        github: { appId: github.appId, keyFile, webhookSecretFile, api: github.url },
      },
    },
    {},
  );
  server = await startServer(config, pino({ level: "silent" }));
  github.sendWebhooksTo(`${server.url}/forge/github/webhooks`, secret);
  db = openPostgres({ url: databaseUrl });
});
afterAll(async () => {
  await db.close();
  await server.stop();
  await github.stop();
  await rm(dataDir, { recursive: true });
});

const ask = (method: string, path: string, body?: unknown) => askServer(server, method, path, body);

const detailOf = async (repository: string) => {
  const named = new URLSearchParams({ repository }).toString();
  return ForgeRepositoryDetail.parse((await ask("GET", `/forge/repository?${named}`)).body);
};

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const give = Date.now() + 60_000;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (Date.now() > give) throw new Error(`${what}: it did not come about`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const definitions = { ".grange/jobs.yml": "version: 1\njobs:\n  a: {commands: 'true'}\n" };

async function watched(slug: string, policy: object = {}): Promise<FakeRepository> {
  const repository = await github.repository(slug, { files: definitions });
  const added = await ask("POST", "/forge/repositories", { kind: "github", slug, policy });
  expect(added).toMatchObject({ status: 201 });
  return repository;
}

/** The graph of a pull request's head, when it has one. */
const graphOf = async (slug: string, number: number, head: string) => {
  const { pulls } = await detailOf(slug);
  const pull = pulls.find((each) => each.number === number && each.head === head);
  return pull?.graph ?? undefined;
};

const stateOf = async (id: string) =>
  GraphSummary.parse(((await ask("GET", `/graphs/${id}`)).body as { graph?: unknown }) ?? {}).state;

async function domainOf(id: string): Promise<string> {
  const rows = await db.many(
    z.object({ domain: TrustDomain }),
    sql`select domain from graph where id = ${id}`,
  );
  return rows[0]?.domain ?? "none";
}

describe("a repository at GitHub", () => {
  test("gets graphs of its default branch, of tags, and of pull requests in domains of their own", async () => {
    const slug = "owner/plain";
    const repository = await watched(slug);
    const head = await repository.push("main", { "a.txt": "1" });
    await repository.tag("v1", head);
    const number = await repository.openPull({ files: { "b.txt": "1" }, by: "colleague" });
    const first = repository.pullState(number).head;
    const made = await until("the pull request's graph", () => graphOf(slug, number, first));
    const heads = await until("the heads' graphs", async () => {
      const found = (await detailOf(slug)).heads.filter(({ graph }) => graph !== null);
      return found.length === 2 && found.every((each) => each.head === head) ? found : undefined;
    });

    expect(await domainOf(made)).toMatch(/^pr\/\d+/);
    expect(heads.map(({ ref }) => ref).toSorted()).toEqual(["refs/heads/main", "refs/tags/v1"]);
    for (const { graph } of heads) expect(await domainOf(graph ?? "")).toBe("protected");

    const second = await repository.movePull(number, { "b.txt": "2" });
    await until("the graph of the head that moved", () => graphOf(slug, number, second));
    await until("the end of the one before", async () =>
      (await stateOf(made)) === "cancelled" ? true : undefined,
    );
    await repository.closePull(number);
    await until("no graph of a closed one", async () => {
      const [pull] = (await detailOf(slug)).pulls;
      return pull?.state === "closed" && pull.graph === null ? true : undefined;
    });
  });

  test("on an open farm gives forks no network, by which they would be anyone", async () => {
    const repository = await github.repository("owner/networked", { files: definitions });
    const asked = { kind: "github", slug: repository.slug, policy: { forkNetwork: true } };

    expect(await ask("POST", "/forge/repositories", asked)).toMatchObject({
      status: 409,
      body: { error: { code: "failed_precondition" } },
    });
  });

  test("a fork's commit waits for a maintainer's word, and only that one runs", async () => {
    const slug = "owner/forked";
    const repository = await watched(slug);
    repository.setPermission("maintainer", "write");
    const number = await repository.openPull({
      files: { "b.txt": "1" },
      by: "stranger",
      fork: "stranger",
    });
    await until("that it is held", async () =>
      (await detailOf(slug)).pulls.some(({ isHeld }) => isHeld) ? true : undefined,
    );
    const { head } = repository.pullState(number);

    await repository.comment(number, "stranger", `@grange approve ${head}`);
    await repository.comment(number, "maintainer", `@grange approve ${head}`);
    const graph = await until("its graph", () => graphOf(slug, number, head));
    const [pull] = (await detailOf(slug)).pulls;
    const moved = await repository.movePull(number, { "b.txt": "hostile" });
    await until("that the next is held", async () => {
      const [next] = (await detailOf(slug)).pulls;
      return next?.head === moved && next.isHeld ? true : undefined;
    });

    expect(pull?.approvedBy).toBe("maintainer@github");
    expect(await domainOf(graph)).toMatch(/^pr\//);
    expect(await graphOf(slug, number, moved)).toBeUndefined();
  });

  test("a fork that asks for more than it may gets a check that says so, and no graph", async () => {
    const slug = "owner/greedy";
    const repository = await watched(slug, { forkGraphs: "always" });
    const number = await repository.openPull({
      by: "stranger",
      fork: "stranger",
      files: { ".grange/jobs.yml": "version: 1\njobs:\n  a: {commands: 'true', network: true}\n" },
    });
    const problem = await until("the problem", async () => {
      const pull = (await detailOf(slug)).pulls.find((each) => each.number === number);
      return pull?.problem ?? undefined;
    });
    const { head } = repository.pullState(number);
    const [check] = await until("the check", async () => {
      const checks = repository.checks(head);
      return checks.length > 0 ? checks : undefined;
    });

    expect(problem).toContain("may not have network");
    expect(check).toMatchObject({ name: "grange", conclusion: "failure" });
    expect(check?.summary).toContain("may not have network");
  });

  test("is in the end what a full poll says, though most webhooks are lost, doubled or late", async () => {
    const slug = "owner/lossy";
    const repository = await watched(slug, { pollMs: 2_000 });
    github.setFaults({
      webhookLoss: 0.6,
      webhookDouble: 0.3,
      webhookReorder: 0.3,
      serverError: 0.1,
    });
    const numbers: number[] = [];
    for (let i = 0; i < 4; i++)
      numbers.push(await repository.openPull({ files: { [`${i}`]: "1" } }));
    for (const number of numbers) await repository.movePull(number, { moved: `${number}` });
    await repository.closePull(numbers[0] ?? 0);
    await github.webhooksSent();
    github.clearFaults();

    const same = await until("the same state", async () => {
      const { pulls } = await detailOf(slug);
      const here = pulls.map(({ number, state, head, graph }) =>
        [number, state, head, graph !== null].join(" "),
      );
      const there = numbers.map((number) => {
        const { state, head } = repository.pullState(number);
        return [number, state, head, state === "open"].join(" ");
      });
      return here.toSorted().join() === there.toSorted().join() ? true : undefined;
    });

    expect(same).toBe(true);
  });

  test("is examined: what is wrong is named", async () => {
    const slug = "owner/examined";
    await watched(slug);
    const good = ForgeExamination.parse(
      (
        await ask(
          "GET",
          `/forge/examination?${new URLSearchParams({ repository: slug }).toString()}`,
        )
      ).body,
    );
    github.uninstall(slug);
    const bad = ForgeExamination.parse(
      (
        await ask(
          "GET",
          `/forge/examination?${new URLSearchParams({ repository: slug }).toString()}`,
        )
      ).body,
    );
    github.install(slug);

    expect(good.findings.length).toBeGreaterThan(2);
    expect(bad.findings.some(({ state }) => state === "wrong")).toBe(true);
  });
});

describe("the way of webhooks", () => {
  const post = (body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/forge/github/webhooks`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", "x-github-event": "push", ...headers },
    });

  test("has no cookie, no token and no parsing before the signature", async () => {
    const unsigned = await post("{");
    const signature = { "x-hub-signature-256": `sha256=${"0".repeat(64)}` };
    const large = await post(Buffer.alloc(30 * 1024 * 1024), signature).catch(() => undefined);
    const got = await fetch(`${server.url}/forge/github/webhooks`);

    expect(unsigned.status).toBe(401);
    expect(large === undefined || large.status === 413).toBe(true);
    expect(got.ok).toBe(false);
  });

  test("takes webhooks without asking the forge for anything: what follows is done later", async () => {
    const slug = "owner/quick";
    const repository = await watched(slug);
    await github.webhooksSent();
    const before = github.webhookCounts();
    github.setFaults({ serverError: 1 });
    await repository.push("main", { "a.txt": "1" });
    await github.webhooksSent();
    const after = github.webhookCounts();
    github.clearFaults();

    expect(after.made).toBeGreaterThan(before.made);
    expect(after.taken - before.taken).toBe(after.made - before.made);
  });
});

// The last test: it makes the farm private.
describe("who may read on a private farm", () => {
  test("follows the permission at GitHub, for a principal that is linked with an account", async () => {
    const slug = "owner/secret";
    const repository = await github.repository(slug, { files: definitions, private: true });
    const added = await ask("POST", "/forge/repositories", { kind: "github", slug });
    const { name } = added.body as { name: string };
    await repository.push("main", { "a.txt": "1" });
    await until("its graph", async () =>
      (await detailOf(slug)).heads.find(({ graph }) => graph !== null),
    );
    const tokenOf = async (principal: string, by?: string) => {
      const { body } = await askServer(server, "POST", "/tokens", { principal }, by);
      return (body as { token: string }).token;
    };
    const root = await tokenOf("root");
    await ask("POST", "/grants", { principal: "root", verb: "*", top: true });
    const [alice, bob] = [await tokenOf("alice"), await tokenOf("bob")];
    await askServer(server, "PUT", "/access", { access: "private" }, root);
    const as = (method: string, path: string, body: unknown, token: string) =>
      askServer(server, method, path, body, token);
    const graphsFor = async (token: string) => {
      const { body } = await as(
        "GET",
        `/graphs?repository=${encodeURIComponent(name)}`,
        undefined,
        token,
      );
      return Array.isArray(body) ? body.length : 0;
    };
    const link = (principal: string, account: string) =>
      as("POST", "/forge/accounts", { principal, kind: "github", account }, root);
    const policy = { repository: name, policy: { readers: "read" } };

    const before = await graphsFor(alice);
    await as("POST", "/grants", { principal: "bob", verb: "forge" }, root);
    const byBob = await as("POST", "/forge/repositories/policy", policy, bob);
    await as("POST", "/forge/repositories/policy", policy, root);
    repository.setPermission("octocat", "read");
    await link("alice", "Octocat");
    await link("bob", "stranger");
    const [reader, stranger] = [await graphsFor(alice), await graphsFor(bob)];
    const check = await as(
      "GET",
      `/principals/alice/check?verb=read-logs&repository=${encodeURIComponent(name)}`,
      undefined,
      root,
    );
    await as("POST", "/forge/accounts/remove", { principal: "alice", kind: "github" }, root);
    const after = await graphsFor(alice);

    expect(byBob.status).toBe(403);
    expect([before, reader, stranger, after]).toEqual([0, 1, 0, 0]);
    expect(check.body).toMatchObject({ allowed: true });
  });
});
