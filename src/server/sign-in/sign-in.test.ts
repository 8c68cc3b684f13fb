import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CreatedToken } from "#api/access.ts";
import { Failure } from "#api/failure.ts";
import { SessionStanding, SignInAddress, SignInLink } from "#api/session.ts";
import { type Browser, cookieJarBrowser } from "../../../test/support/cookie-jar-browser.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { startTestProvider, type TestProvider } from "../../../test/support/identity-provider.ts";
import { runProgram } from "../../../test/support/process.ts";
import { startTokenIssuer, type TokenIssuer } from "../../../test/support/token-issuer.ts";
import { readServerConfig } from "../config.ts";
import { type RunningServer, startServer } from "../start-server.ts";

const databaseUrl = await freshDatabase();
let dataDir: string;
let provider: TestProvider;
let issuer: TokenIssuer;
let farm: RunningServer;
/** Another server of the same farm. */
let other: RunningServer;
let url: string;
let root: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-sign-in-"));
  [provider, issuer] = await Promise.all([startTestProvider(), startTokenIssuer()]);
  const secret = join(dataDir, "client-secret");
  await writeFile(secret, `${provider.clientSecret}\n`);
  const start = (name: string, farmKey?: string) =>
    startServer(
      readServerConfig(
        {
          dataDir: join(dataDir, name),
          blobs: join(dataDir, "blobs"),
          databaseUrl,
          port: 0,
          host: "127.0.0.1",
          oidc: {
            issuer: provider.issuer,
            clientId: provider.clientId,
            clientSecretFile: secret,
            name: "The Provider",
            groupsClaim: "groups",
          },
          ...(farmKey === undefined ? {} : { farmKey }),
        },
        {},
      ),
      pino({ level: "silent" }),
    );
  farm = await start("one");
  other = await start("two", join(dataDir, "one", "farm.key"));
  url = farm.url.replace(/\/$/, "");
  await provider.register(`${url}/auth/callback`);
  provider.accounts.set("a1", {
    email: "Alice@farm.example",
    email_verified: true,
    groups: ["devs"],
  });

  root = CreatedToken.parse(await (await post("/tokens", { principal: "root" })).json()).token;
  await post("/grants", { principal: "root", verb: "*", top: true });
});
afterAll(async () => {
  await Promise.all([farm.stop(), other.stop(), provider.stop(), issuer.stop()]);
  await rm(dataDir, { recursive: true });
});

const json = { "content-type": "application/json" };

function post(path: string, body: unknown, token?: string): Promise<Response> {
  return fetch(`${url}/api/v1${path}`, {
    method: "POST",
    headers: { ...json, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
}

/** As one of the farm's own pages sends it. */
async function act(browser: Browser, path: string, body: unknown = {}, at = url) {
  const { csrf } = await standing(browser, at);
  return browser.send(`${at}/api/v1${path}`, {
    method: "POST",
    headers: {
      ...json,
      origin: new URL(at).origin,
      ...(csrf === null ? {} : { "x-grange-csrf": csrf }),
    },
    body: JSON.stringify(body),
  });
}

async function standing(browser: Browser, at = url): Promise<SessionStanding> {
  return SessionStanding.parse(await (await browser.send(`${at}/api/v1/session`)).json());
}

async function signInWithToken(token: string, browser = cookieJarBrowser()): Promise<Browser> {
  const answer = await act(browser, "/session/token", { token });
  expect(await answer.json()).toHaveProperty("principal");
  return browser;
}

async function signInAtProvider(login: string, browser = cookieJarBrowser(), returnTo?: string) {
  const begun = await act(browser, "/session/provider", { returnTo });
  const there = SignInAddress.parse(await begun.json());
  const callback = await provider.visit(there.url, login);
  return { browser, answer: await browser.send(callback.href) };
}

async function messageIn(response: Response): Promise<string> {
  return Failure.parse(await response.json()).error.message;
}

describe("an open farm on loopback", () => {
  test("asks nobody to sign in, and takes changes without cookie, token or word", async () => {
    const answer = await post("/drains", { pattern: "nobody-*", reason: "a test" });

    expect(answer.status).toBe(200);
    expect(await standing(cookieJarBrowser())).toMatchObject({
      session: null,
      csrf: null,
      isOpen: true,
      access: "open",
      provider: "The Provider",
    });
  });

  test("goes on for a browser with a cookie of another farm that was here before", async () => {
    const browser = cookieJarBrowser(
      new Map([[`grange-session-${new URL(url).port}`, "A".repeat(43)]]),
    );

    const answer = await browser.send(`${url}/api/v1/drains`, {
      method: "POST",
      headers: json,
      body: JSON.stringify({ pattern: "nobody-*", reason: "a test" }),
    });

    expect(answer.status).toBe(200);
  });

  test("takes no right from who signs in", async () => {
    const made = await (await post("/tokens", { principal: "newcomer" })).json();
    const browser = await signInWithToken(CreatedToken.parse(made).token);

    const answer = await act(browser, "/drains", { pattern: "nobody-*", reason: "a test" });

    expect(answer.status).toBe(200);
  });
});

describe("on a closed farm", () => {
  beforeAll(async () => {
    const closed = await post("/grants/remove", { principal: "anyone", verb: "*" }, root);
    if (closed.status !== 200) throw new Error("the farm stays open");
  });

  test("a token that is pasted in does what it may, from pages", async () => {
    const stranger = await act(cookieJarBrowser(), "/drains", { pattern: "x", reason: "y" });
    const browser = await signInWithToken(root);

    const answer = await act(browser, "/drains", { pattern: "x", reason: "y" });

    expect([stranger.status, answer.status]).toEqual([403, 200]);
    expect(await standing(browser)).toMatchObject({
      session: { principal: "root", by: { kind: "token" } },
      isOpen: false,
      access: "public",
    });
    // The first page and the first answer are valid on every server of the farm.
    const elsewhere = cookieJarBrowser(renamed(browser, other.url));
    expect((await standing(elsewhere, other.url.replace(/\/$/, ""))).session?.principal).toBe(
      "root",
    );
  });

  test("the cookie is for the farm alone: no script, no other site's form, no other farm's port", async () => {
    const answer = await act(cookieJarBrowser(), "/session/token", { token: root });

    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        new RegExp(
          `^grange-session-${new URL(url).port}=[A-Za-z0-9_-]{43}; Path=/; Max-Age=604\\d{3}; HttpOnly; SameSite=Lax$`,
        ),
      ),
    ]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test("somebody whom the provider knows is here by the e-mail address, with the grants of the groups", async () => {
    await post("/grants", { principal: "group-devs", verb: "administer" }, root);

    const { browser, answer } = await signInAtProvider("a1", undefined, "/graphs/latest?x=1#y");

    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toBe("/graphs/latest?x=1#y");
    expect((await standing(browser)).session).toMatchObject({
      principal: "alice@farm.example",
      by: { kind: "provider", issuer: provider.issuer },
    });
    const caller = (await (await browser.send(`${url}/api/v1/caller`)).json()) as object;
    expect(caller).toMatchObject({
      name: "alice@farm.example",
      grants: [
        { verb: "read" },
        { verb: "read-logs" },
        { verb: "read-sources" },
        { verb: "administer" },
      ],
    });
  });

  test("two who sign in at once with one new identity are one person", async () => {
    provider.accounts.set("b1", { email: "bob@farm.example", email_verified: true });

    const both = await Promise.all([signInAtProvider("b1"), signInAtProvider("b1")]);

    for (const { browser } of both) {
      expect((await standing(browser)).session?.principal).toBe("bob@farm.example");
    }
  });

  test.each([
    ["not verified", { email: "eve@farm.example", email_verified: false }, /did not verify/],
    ["absent", { preferred_username: "eve" }, /said nothing of your `email`/],
    ["no name", { email: "e v e@farm.example", email_verified: true }, /cannot be a name here/],
    [
      "somebody else's",
      { email: "alice@farm.example", email_verified: true },
      /belongs to another user/,
    ],
  ])("an address that is %s signs nobody in, and the page is told why", async (_, account, why) => {
    const login = `eve-${Math.random()}`;
    provider.accounts.set(login, account);
    await signInAtProvider("a1");

    const { browser, answer } = await signInAtProvider(login);

    expect(answer.headers.get("location")).toBe("/sign-in");
    const [told, thenAgain] = [await standing(browser), await standing(browser)];
    expect(told.problem).toMatch(why);
    expect(thenAgain).toMatchObject({ session: null, problem: null });
  });

  test("a name that is freed goes to the next, and who had it is signed out", async () => {
    provider.accounts.set("c1", { email: "carol@farm.example", email_verified: true });
    provider.accounts.set("c2", { email: "carol@farm.example", email_verified: true });
    const first = await signInAtProvider("c1");

    await post("/identities/carol@farm.example/remove", {}, root);
    const second = await signInAtProvider("c2");

    expect((await standing(first.browser)).session).toBeNull();
    expect((await standing(second.browser)).session?.principal).toBe("carol@farm.example");
  });

  test("an administrator says whose name a subject has before it comes", async () => {
    await post("/identities", { principal: "dora", subject: "d1" }, root);
    provider.accounts.set("d1", { email: "d@elsewhere.example", email_verified: true });

    const { browser } = await signInAtProvider("d1");

    expect((await standing(browser)).session?.principal).toBe("dora");
  });

  test("a link that a token's holder asks for signs its first visitor in, and no second", async () => {
    const link = SignInLink.parse(await (await post("/session/links", {}, root)).json());
    const code = new URL(link.url).hash.replace("#code=", "");
    const [first, second] = [cookieJarBrowser(), cookieJarBrowser()];

    await act(first, "/session/code", { code });
    const again = await act(second, "/session/code", { code });

    expect((await standing(first)).session?.principal).toBe("root");
    expect(again.status).toBe(401);
    expect(await messageIn(again)).toContain("was used before");
  });

  test("who signs out is nobody, and its cookie is good for nothing", async () => {
    const browser = await signInWithToken(root);
    const stolen = cookieJarBrowser(new Map(browser.cookies));

    await act(browser, "/session/end");

    expect(browser.cookies.size).toBe(0);
    expect(await standing(stolen)).toMatchObject({ session: null, over: { principal: "root" } });
  });

  test("a revoked token takes its sessions with it, and a change is then refused rather than done by nobody", async () => {
    await post("/grants", { principal: "frank", verb: "administer" }, root);
    const made = CreatedToken.parse(
      await (await post("/tokens", { principal: "frank" }, root)).json(),
    );
    const browser = await signInWithToken(made.token);
    expect((await act(browser, "/drains", { pattern: "x", reason: "y" })).status).toBe(200);

    await post(`/tokens/${made.id}/revoke`, {}, root);
    const read = await browser.send(`${url}/api/v1/graphs`);
    const changed = await act(browser, "/drains", { pattern: "x", reason: "y" });

    expect(read.status).toBe(200);
    expect(changed.status).toBe(401);
    expect(await messageIn(changed)).toContain("the session of frank has ended (its token ended)");
  });

  test("sessions are listed for those whose they are, and ended by them or by an administrator", async () => {
    const made = CreatedToken.parse(
      await (await post("/tokens", { principal: "gina" }, root)).json(),
    );
    const browser = await signInWithToken(made.token);
    const listed = (await (await browser.send(`${url}/api/v1/sessions`)).json()) as {
      id: string;
    }[];
    const roots = await signInWithToken(root);
    const rootsId = (await standing(roots)).session?.id ?? "";

    const foreign = await act(browser, `/sessions/${rootsId}/end`);
    const own = await post(`/sessions/${listed[0]?.id}/end`, {}, root);

    expect(listed).toMatchObject([{ principal: "gina" }]);
    expect([foreign.status, own.status]).toEqual([403, 200]);
    expect((await standing(browser)).session).toBeNull();
  });
});

describe("a signed token of a CI", () => {
  const audience = "https://farm.example";
  const rule = () => ({
    name: "github",
    url: issuer.url,
    audience,
    subject: "repo:org/app:*",
    principal: "ci-app",
  });

  test("counts once its issuer is trusted, everywhere, and no more when it is not", async () => {
    const sub = "repo:org/app:ref:refs/heads/main";
    const before = await caller(await issuer.sign({ aud: audience, sub }));
    await post("/issuers", rule(), root);

    const token = await issuer.sign({ aud: audience, sub });
    const during = await caller(token);
    const asPassword = await fetch(`${url}/api/v1/caller`, {
      headers: { authorization: `Basic ${Buffer.from(`ci:${token}`).toString("base64")}` },
    });
    await post("/issuers/github/remove", {}, root);
    const after = await caller(token);

    expect([before.status, during.status, after.status]).toEqual([401, 200, 401]);
    expect(await messageIn(before)).toContain("does not trust its issuer");
    expect(await during.json()).toMatchObject({ name: "ci-app", kind: "ci" });
    expect(await asPassword.json()).toMatchObject({ name: "ci-app" });
  });

  test("costs its issuer one question, however many come", async () => {
    await post("/issuers", rule(), root);
    const before = issuer.asked.keys;

    for (let n = 0; n < 5; n += 1) {
      const token = await issuer.sign({ aud: audience, sub: "repo:org/app:x", jti: String(n) });
      expect((await caller(token)).status).toBe(200);
    }

    expect(issuer.asked.keys - before).toBeLessThanOrEqual(1);
    await post("/issuers/github/remove", {}, root);
  });

  test.each([
    [{ url: "http://elsewhere.example" }, /must begin with https/],
    [{ url: "https://user:secret@elsewhere.example" }, /contains a user or a password/],
    [{ url: "file:///etc/passwd" }, /must begin with https/],
    [{ subject: "*" }, /would accept every account/],
    [{ principal: "anyone" }, /choose another name/],
    [{ name: "no name" }, /letters, digits/],
  ])("is not to be had by %j", async (wrong, why) => {
    const answer = await post("/issuers", { ...rule(), ...wrong }, root);

    expect(answer.status).toBe(400);
    expect(await messageIn(answer)).toMatch(why);
  });

  function caller(token: string): Promise<Response> {
    return fetch(`${url}/api/v1/caller`, { headers: { authorization: `Bearer ${token}` } });
  }
});

describe("the commands", () => {
  const program = join(import.meta.dirname, "../../../bin/grange.mjs");
  const run = async (...args: string[]) => {
    const env = { GRANGE_TOKEN: root, GRANGE_SERVER: url };
    const { code, stdout, stderr } = await runProgram(process.execPath, [program, ...args], {
      env,
    });
    return { code, stdout, stderr };
  };

  test("say whose tokens count, whose names are whose, and sign a browser in and out", async () => {
    const rule = ["--audience", "farm", "--subject", "org/*", "--principal", "ci-two"];
    const added = await run("issuer", "add", "two", issuer.url, ...rule);
    const removed = await run("issuer", "remove", "two", "--json");
    const named = await run("identity", "add", "erin", "--subject", "e1");
    const link = SignInLink.parse(JSON.parse((await run("sign-in", "--json")).stdout));
    const browser = cookieJarBrowser();
    await act(browser, "/session/code", { code: new URL(link.url).hash.replace("#code=", "") });
    const id = (await standing(browser)).session?.id ?? "";
    const listed = await run("sign-in", "list");
    const ended = await run("sign-in", "end", id);

    expect(added.stdout).toMatch(/two +http:\/\/127\.0\.0\.1:\d+ +farm +org\/\* +ci-two +root/);
    expect(JSON.parse(removed.stdout)).toEqual([]);
    expect(named.stdout).toContain("erin");
    expect(listed.stdout).toMatch(new RegExp(`${id} +root +token [0-9a-f]{12}`));
    expect(ended.stdout).toBe(`Session ${id} of root has ended.\n`);
    expect((await standing(browser)).session).toBeNull();
  });
});

test.each([
  [{ host: "0.0.0.0" }, /sign in without TLS/],
  [{ publicUrl: "http://farm.example" }, /sign in without TLS/],
])("a provider is not used where sessions would travel in the clear: %j", async (told, why) => {
  const oidc = { issuer: "https://login.example", clientId: "grange" };
  const config = readServerConfig(
    {
      dataDir: join(dataDir, "clear"),
      blobs: join(dataDir, "blobs"),
      databaseUrl,
      port: 0,
      allowOpen: true,
      oidc,
      ...told,
    },
    {},
  );

  await expect(startServer(config, pino({ level: "silent" }))).rejects.toThrow(why);
});

test.each([
  [
    { GRANGE_OIDC_ISSUER: "http://login.example", GRANGE_OIDC_CLIENT_ID: "x" },
    /must begin with https/,
  ],
  [{ GRANGE_OIDC_ISSUER: "https://login.example" }, /GRANGE_OIDC_CLIENT_ID/],
  [{ GRANGE_PUBLIC_URL: "https://farm.example/path" }, /without a path/],
])("%j is no configuration", (env, why) => {
  expect(() => readServerConfig({}, env)).toThrow(why);
});

/** Returns the cookies with the names for another port. */
function renamed(browser: Browser, at: string): Map<string, string> {
  const port = new URL(at).port;
  return new Map([...browser.cookies].map(([name, value]) => [name.replace(/\d+$/, port), value]));
}
