import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FakeGitHub, FakeRepository } from "../../../test/support/fake-github/fake-github.ts";
import { startFakeGitHub } from "../../../test/support/fake-github/start-fake-github.ts";
import type { CheckRun } from "../check-run.ts";
import { retryAfterMsOf } from "../forge-busy.ts";
import type { GitHubConfig } from "./github-config.ts";
import { type GitHub, openGitHub } from "./open-github.ts";

let fake: FakeGitHub;
let repository: FakeRepository;
let forge: GitHub;
const slug = "octo/widgets";

const open = (more: Partial<GitHubConfig> = {}) =>
  openGitHub({
    appId: fake.appId,
    privateKey: fake.privateKey,
    api: fake.url,
    pace: { writeMs: 0, notifyMs: 0 },
    readAgainMs: 1,
    ...more,
  });

beforeEach(async () => {
  fake = await startFakeGitHub();
  repository = await fake.repository(slug);
  forge = open();
});
afterEach(async () => {
  await forge.stop();
  await fake.stop();
});

const check = (sha: string, more: Partial<CheckRun> = {}): CheckRun => ({
  sha,
  name: "grange",
  externalId: "request 1",
  detailsUrl: "http://farm.example.org/graph/1",
  state: { kind: "queued" },
  title: "Waiting",
  summary: "Nothing to tell yet.",
  annotations: [],
  ...more,
});

const annotations = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    path: "src/a.rs",
    startLine: at + 1,
    endLine: at + 1,
    level: "warning" as const,
    message: `Slower: ${at}`,
  }));

describe("reading", () => {
  test("returns branches and tags, an annotated tag with its commit", async () => {
    const sha = await repository.push("main", { "a.txt": "1" });
    const topic = await repository.push("topic/one", { "b.txt": "1" });
    await repository.tag("v1", sha, { annotated: true });

    const refs = await forge.refs(slug);

    expect(refs).toEqual([
      { ref: "refs/heads/main", sha },
      { ref: "refs/heads/topic/one", sha: topic },
      { ref: "refs/tags/v1", sha },
    ]);
    expect(await forge.defaultBranch(slug)).toBe("main");
  });

  test("reads all pages of branches", async () => {
    for (let at = 0; at < 101; at++) await repository.push(`b${at}`, { "a.txt": String(at) });

    expect(await forge.refs(slug)).toHaveLength(102);
  });

  test("a branch that is deleted during reading makes no other branch seem deleted", async () => {
    let afterFirstPage: (() => void) | undefined;
    await fake.stop();
    fake = await startFakeGitHub({
      onAnswer({ route, body }) {
        if (!route.endsWith("/branches") || (body as unknown[]).length < 100) return;
        afterFirstPage?.();
        afterFirstPage = undefined;
      },
    });
    await forge.stop();
    forge = open();
    repository = await fake.repository(slug);
    for (let at = 0; at < 101; at++) await repository.push(`a${1_000 + at}`, { "a.txt": "1" });
    afterFirstPage = () => void repository.deleteRef("refs/heads/a1000");

    const refs = await forge.refs(slug);

    expect(new Set(refs.map((one) => one.ref)).size).toBe(refs.length);
    for (let at = 1; at < 101; at++)
      expect(refs.map((one) => one.ref)).toContain(`refs/heads/a${1_000 + at}`);
  });

  test("requests a base branch with any name", async () => {
    const base = "release/1.0#a%41+é";
    const sha = await repository.push(base, { "a.txt": "1" });
    const number = await repository.openPull({ files: { "b.txt": "1" }, base });

    expect(await forge.pullRequests.find(slug, number)).toMatchObject({
      baseRef: `refs/heads/${base}`,
      baseSha: sha,
    });
  });

  test("asks GitHub whether cached answers are unmodified, which does not count against the limit", async () => {
    await forge.refs(slug);
    const one = await forge.refs(slug);
    await repository.push("main", { "a.txt": "new" });
    const other = await forge.refs(slug);

    expect(one).not.toEqual(other);
    expect(other[0]?.sha).toBe(repository.head("refs/heads/main"));
  });

  test("returns pull requests with author, source and the current head of the base", async () => {
    const before = repository.head("refs/heads/main");
    const own = await repository.openPull({ files: { "a.txt": "1" }, by: "alice" });
    const foreign = await repository.openPull({ files: { "b.txt": "1" }, fork: "mallory" });
    const base = await repository.push("main", { "c.txt": "1" });

    const pulls = await forge.pullRequests.list(slug);

    expect(base).not.toBe(before);
    expect(pulls).toMatchObject([
      { number: own, state: "open", author: "alice", isFork: false, headRepository: slug },
      { number: foreign, state: "open", author: "mallory", isFork: true },
    ]);
    expect(pulls.map((pull) => pull.baseSha)).toEqual([base, base]);
    expect(pulls[1]?.head).toBe(repository.head(`refs/pull/${foreign}/head`));
    expect(pulls[1]?.headRepository).toBe("mallory/widgets");
  });

  test("returns closed pull requests that changed since", async () => {
    const first = await repository.openPull({ files: { "a.txt": "1" } });
    await repository.openPull({ files: { "b.txt": "1" } });
    await repository.closePull(first);

    expect((await forge.pullRequests.list(slug)).map((pull) => pull.number)).toEqual([2]);
    const since = await forge.pullRequests.list(slug, new Date(Date.now() - 60_000));
    expect(since.map((pull) => [pull.number, pull.state])).toEqual([
      [2, "open"],
      [1, "closed"],
    ]);
    expect(await forge.pullRequests.list(slug, new Date(Date.now() + 60_000))).toHaveLength(1);
  });

  test("distinguishes merged from closed pull requests", async () => {
    const number = await repository.openPull({ files: { "a.txt": "1" } });
    const merged = await repository.mergePull(number);

    const pull = await forge.pullRequests.find(slug, number);

    expect(pull).toMatchObject({ state: "merged", baseSha: merged });
    expect(await forge.pullRequests.find(slug, 99)).toBeUndefined();
  });

  test("a pull request of a deleted fork still counts as one from a fork", async () => {
    const number = await repository.openPull({ files: { "a.txt": "1" }, fork: "mallory" });
    repository.deleteFork("mallory");

    const pull = await forge.pullRequests.find(slug, number);

    expect(pull).toMatchObject({ isFork: true, headRepository: undefined });
  });

  test.each([
    ["admin", "admin"],
    ["maintain", "maintain"],
    ["write", "write"],
    ["triage", "triage"],
    ["read", "read"],
    ["none", "none"],
  ])("tells who holds %s", async (given, expected) => {
    repository.setPermission("alice", given);

    expect(await forge.pullRequests.permission(slug, "alice")).toBe(expected);
  });

  test("maps a custom role to its permission, and a stranger to none", async () => {
    repository.setRole("bob", "write", "release-captain");

    expect(await forge.pullRequests.permission(slug, "bob")).toBe("write");
    expect(await forge.pullRequests.permission(slug, "nobody-at-all")).toBe("none");
  });

  test.each([
    { login: "OctoCat", account: "octocat" },
    { login: "renovate[bot]", account: "renovate+bot" },
  ])("takes the login $login for the account $account", ({ login, account }) => {
    expect(forge.pullRequests.accountOf(login)).toBe(account);
  });

  test("stores a repository under one name, for any case of its letters", () => {
    expect(forge.storedSlug("Octo/Widgets")).toBe("octo/widgets");
  });

  test("fetches a public repository without a token, and a private one with a token for reading only it", async () => {
    await fake.repository("octo/hidden", { private: true });

    expect(await forge.fetchAddress(slug)).toBe(`${fake.url}/octo/widgets.git`);
    const address = new URL(await forge.fetchAddress("octo/hidden"));
    expect(address.username).toBe("x-access-token");
    const refs = (as: string) =>
      fetch(`${fake.url}/octo/${as}.git/info/refs?service=git-upload-pack`, {
        headers: {
          authorization: `Basic ${Buffer.from(`x-access-token:${address.password}`).toString("base64")}`,
        },
      });
    expect((await refs("hidden")).status).toBe(200);
    expect(await (await refs("hidden")).text()).toContain("refs/heads/main");
    expect((await fetch(`${fake.url}/octo/hidden.git/info/refs`)).status).toBe(401);
  });
});

describe("comments", () => {
  test("are listed by pull request and by change, with the farm's own marked", async () => {
    const pull = await repository.openPull({ files: { "a.txt": "1" } });
    const theirs = await repository.comment(pull, "alice", "@grange help");
    const ours = await forge.comments.create(slug, pull, "Here is how.");

    const all = await forge.comments.ofPull(slug, pull);

    expect(all).toMatchObject([
      { id: String(theirs), author: "alice", isOurs: false, body: "@grange help", pull },
      { id: ours.id, author: fake.bot, isOurs: true, body: "Here is how.", pull },
    ]);
    expect(await forge.comments.list(slug, new Date(Date.now() - 5_000))).toEqual(all);
    expect(await forge.comments.list(slug, new Date(Date.now() + 5_000))).toEqual([]);
  });

  test("of a user with a name like the app's are not the farm's", async () => {
    const pull = await repository.openPull({ files: { "a.txt": "1" } });
    await repository.comment(pull, "grange-test", "I am the farm.");

    expect(await forge.comments.ofPull(slug, pull)).toMatchObject([{ isOurs: false }]);
  });

  test("are changed, minimised, reacted to and deleted", async () => {
    const pull = await repository.openPull({ files: { "a.txt": "1" } });
    const one = await forge.comments.create(slug, pull, "first");
    const other = await forge.comments.create(slug, pull, "second");

    await forge.comments.update(slug, one.id, "changed");
    await forge.comments.minimise(slug, one.nodeId);
    await forge.comments.react(slug, one.id, "eyes");
    await forge.comments.react(slug, one.id, "eyes");
    await forge.comments.delete(slug, other.id);
    await forge.comments.delete(slug, other.id);

    expect(repository.comments(pull)).toMatchObject([
      { body: "changed", isMinimised: true, reactions: [{ content: "eyes" }] },
    ]);
    expect(fake.ledger.map((entry) => entry.what)).toEqual([
      "comment created",
      "comment created",
      "comment updated",
      "comment minimised",
      "reaction added",
      "comment deleted",
    ]);
  });

  test("labels are added and removed, and removing a missing label is no error", async () => {
    const pull = await repository.openPull({ files: { "a.txt": "1" } });

    await forge.labels.add(slug, pull, ["perf-regression", "a/b c"]);
    expect(await forge.labels.list(slug, pull)).toEqual(["perf-regression", "a/b c"]);
    await forge.labels.remove(slug, pull, "a/b c");
    await forge.labels.remove(slug, pull, "a/b c");

    expect(repository.labels(pull)).toEqual(["perf-regression"]);
  });
});

describe("check runs", () => {
  test("are found by their external id, also the older of two with one name", async () => {
    const sha = await repository.push("main", { "a.txt": "1" });

    const one = await forge.checks.create(slug, check(sha));
    const other = await forge.checks.create(slug, check(sha, { externalId: "request 2" }));

    expect(await forge.checks.list(slug, sha)).toEqual([
      { id: one, externalId: "request 1" },
      { id: other, externalId: "request 2" },
    ]);
  });

  test("have more annotations than fit into one request, none of them twice", async () => {
    const sha = await repository.push("main", { "a.txt": "1" });
    const done = check(sha, {
      state: {
        kind: "completed",
        startedAt: new Date(),
        completedAt: new Date(),
        conclusion: "failure",
      },
      annotations: annotations(120),
    });

    const id = await forge.checks.create(slug, done);
    await forge.checks.update(slug, id, done);
    await forge.checks.update(slug, id, { ...done, annotations: annotations(121) });

    const [shown] = repository.checks(sha);
    expect(shown?.annotations).toHaveLength(121);
    expect(shown).toMatchObject({ status: "completed", conclusion: "failure" });
  });

  test("that were interrupted between annotations are completed by sending them again", async () => {
    const sha = await repository.push("main", { "a.txt": "1" });
    const id = await forge.checks.create(slug, check(sha, { annotations: annotations(50) }));

    await forge.checks.update(slug, id, check(sha, { annotations: annotations(110) }));

    expect(new Set(repository.checks(sha)[0]?.annotations.map((one) => one.message)).size).toBe(
      110,
    );
    expect(repository.checks(sha)[0]?.annotations).toHaveLength(110);
  });
});

describe("failures", () => {
  test("a read is retried after 500 and 502, a write is not", async () => {
    const pull = await repository.openPull({ files: { "a.txt": "1" } });
    await forge.comments.ofPull(slug, pull);
    fake.setFaults({ errorAfterSuccess: 1 });

    const failed = await forge.comments.create(slug, pull, "once").catch((reason) => reason);

    expect(failed).toMatchObject({ code: "unavailable" });
    expect(repository.comments(pull)).toHaveLength(1);
    fake.setFaults({ errorAfterSuccess: 0, serverError: 0.3, badGateway: 0.2 });
    const tries = await Promise.allSettled(
      Array.from({ length: 20 }, () => forge.comments.ofPull(slug, pull)),
    );
    const well = tries.filter((one) => one.status === "fulfilled").length;
    expect(well).toBeGreaterThan(10);
  });

  test("a write that was executed without an answer is executed once, and reported as unknown", async () => {
    const pull = await repository.openPull({ files: { "a.txt": "1" } });
    await forge.comments.ofPull(slug, pull);
    fake.setFaults({ timeoutAfterSuccess: 1, hangMs: 20 });

    const failed = await forge.comments.create(slug, pull, "once").catch((reason) => reason);

    expect(failed).toMatchObject({ code: "unavailable" });
    expect(retryAfterMsOf(failed)).toBeUndefined();
    expect(repository.comments(pull)).toHaveLength(1);
  });

  test("a missing answer is aborted after the timeout", async () => {
    await forge.stop();
    forge = open({ timeoutMs: 50 });
    const pull = await repository.openPull({ files: { "a.txt": "1" } });
    fake.setFaults({ timeoutAfterSuccess: 1, hangMs: 60_000 });

    const failed = await forge.comments.create(slug, pull, "once").catch((reason) => reason);

    expect(failed).toMatchObject({ code: "unavailable" });
    expect(String(failed.message)).toContain("50 ms");
  });

  test("a secondary limit delays all requests of the installation, for the requested time", async () => {
    await forge.stop();
    forge = open({ waitLimitMs: 0 });
    const pull = await repository.openPull({ files: { "a.txt": "1" } });
    await forge.comments.ofPull(slug, pull);
    fake.setFaults({ secondaryLimit: 1, retryAfterSeconds: 30 });
    const first = await forge.comments.create(slug, pull, "x").catch((reason) => reason);
    fake.clearFaults();
    const before = [...fake.requests().values()].reduce((a, b) => a + b, 0);

    const second = await forge.comments.create(slug, pull, "x").catch((reason) => reason);

    expect(retryAfterMsOf(first)).toBe(30_000);
    expect(retryAfterMsOf(second)).toBeGreaterThan(25_000);
    expect([...fake.requests().values()].reduce((a, b) => a + b, 0)).toBe(before);
    expect(repository.comments(pull)).toEqual([]);
  });

  test("a short secondary limit is awaited, and the write is executed once", async () => {
    const pull = await repository.openPull({ files: { "a.txt": "1" } });
    await forge.comments.ofPull(slug, pull);
    fake.setFaults({ secondaryLimit: 1, retryAfterSeconds: 1 });
    const writing = forge.comments.create(slug, pull, "once");
    const post = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments";
    await expect.poll(() => fake.requests().get(post)).toBe(1);
    fake.clearFaults();

    await writing;

    expect(repository.comments(pull)).toHaveLength(1);
  });

  test("the hourly limit reports its end", async () => {
    await fake.stop();
    fake = await startFakeGitHub({ hourlyRequests: 6 });
    await fake.repository(slug);
    await forge.stop();
    forge = open();

    let failed: unknown;
    for (let at = 0; at < 10 && failed === undefined; at++)
      failed = await forge.pullRequests.permission(slug, `user${at}`).then(
        () => undefined,
        (reason) => reason,
      );

    expect(failed).toMatchObject({ code: "unavailable" });
    expect(retryAfterMsOf(failed)).toBeGreaterThan(3_500_000);
  });

  test("a missing permission is a permanent refusal that names the permission", async () => {
    const pull = await repository.openPull({ files: { "a.txt": "1" } });
    fake.setGranted({ permissions: { metadata: "read", contents: "read", pull_requests: "read" } });

    const failed = await forge.comments.create(slug, pull, "x").catch((reason) => reason);

    expect(failed).toMatchObject({ code: "permission_denied" });
    expect(failed.message).toContain("pull_requests=write");
  });

  test("a repository without an installation is not found, with advice", async () => {
    await fake.repository("octo/other", { installed: false });

    const failed = await forge.refs("octo/other").catch((reason) => reason);

    expect(failed).toMatchObject({ code: "not_found" });
    expect(failed.message).toContain("not installed at octo/other");
  });

  test("an app that was installed again gets a new token at once", async () => {
    await forge.refs(slug);
    fake.uninstall(slug);
    fake.install(slug);

    expect(await forge.refs(slug)).toHaveLength(1);
  });

  test.each(["octo", "octo/../x", "octo/..", "../app", "a b/c", "octo/widgets/x", "o/w?x=1"])(
    "%s is no repository's name",
    async (name) => {
      await expect(forge.refs(name)).rejects.toMatchObject({ code: "invalid_argument" });
    },
  );

  test("stop aborts requests in progress", async () => {
    const pull = await repository.openPull({ files: { "a.txt": "1" } });
    await forge.comments.ofPull(slug, pull);
    fake.setFaults({ timeoutAfterSuccess: 1, hangMs: 60_000 });
    const writing = forge.comments.create(slug, pull, "x").catch((reason) => reason);
    await expect.poll(() => repository.comments(pull).length).toBe(1);

    await forge.stop();

    expect(await writing).toMatchObject({ code: "unavailable" });
  });
});

describe("deliveries", () => {
  test("are listed with ids beyond the exact numbers of JavaScript, and redelivered", async () => {
    // No process listens there, so each one fails.
    fake.sendWebhooksTo("http://127.0.0.1:1/webhooks", "secret");
    for (let at = 0; at < 3; at++) await repository.push("main", { "a.txt": String(at) });
    await fake.webhooksSent();

    const all = await forge.webhooks.redeliveries.list(new Date(Date.now() - 60_000));
    await forge.webhooks.redeliveries.redeliver(all[0]?.id ?? "");
    await fake.webhooksSent();
    const later = await forge.webhooks.redeliveries.list(new Date(Date.now() - 60_000));

    expect(all).toHaveLength(3);
    expect(Number(all[0]?.id)).toBeGreaterThan(Number.MAX_SAFE_INTEGER);
    expect(new Set(all.map((one) => one.id)).size).toBe(3);
    expect(all.every((one) => !one.wasTaken && one.event === "push")).toBe(true);
    expect(later[0]?.guid).toBe(all[0]?.guid);
    expect(await forge.webhooks.redeliveries.list(new Date(Date.now() + 60_000))).toEqual([]);
  });

  test("of many pages are read until they are too old", async () => {
    fake.sendWebhooksTo("http://127.0.0.1:1/webhooks", "secret");
    for (let at = 0; at < 130; at++) await repository.push("main", { "a.txt": String(at) });
    await fake.webhooksSent();

    expect(await forge.webhooks.redeliveries.list(new Date(Date.now() - 60_000))).toHaveLength(130);
  });
});
