import assert from "node:assert/strict";
import pino from "pino";
import type { AllHandlers } from "#server/handlers/all-handlers.ts";
import { alwaysReady } from "#server/health/always-ready.fixture.ts";
import type { Farm } from "#server/http/farm.ts";
import { httpApp } from "#server/http/http-app.ts";
import { cookieJarBrowser } from "../support/cookie-jar-browser.ts";
import type { AuthTarget } from "./auth-target.ts";
import type { HostileCase } from "./case.ts";

type Headers = Readonly<Record<string, string>>;
const drain = { pattern: "evil-*", reason: "mine" };
const originOf = ({ url }: AuthTarget) => new URL(url).origin;

/** A request that another site causes in the browser of a signed-in user. */
function forged(
  name: string,
  headersOf: (target: AuthTarget, csrf: string) => Headers | Promise<Headers>,
  body: unknown = drain,
): HostileCase<AuthTarget> {
  return {
    name: `a request that another site makes a browser send: ${name}`,
    async run(target) {
      const browser = await target.signIn();
      const csrf = (await target.standing(browser)).csrf ?? "";
      const headers = await headersOf(target, csrf);
      const answer = await target.post("/drains", body, headers, browser);
      const told = await answer.text();

      assert.ok([400, 403].includes(answer.status), `${answer.status} ${told}`);
      assert.match(told, /not accepted in the name of root|application\/json/);
      await nothingDone(target);
    },
  };
}

async function nothingDone({ url }: AuthTarget): Promise<void> {
  assert.deepEqual(await (await fetch(`${url}/api/v1/drains`)).json(), []);
}

/** Returns all routes that make changes, from the application's own list. */
function changingRoutes(): { readonly method: string; readonly path: string }[] {
  const logger = pino({ level: "silent" });
  const app = httpApp({
    readiness: alwaysReady,
    farm: {} as Farm,
    handlers: {} as AllHandlers,
    logger,
    webDir: undefined,
    host: "127.0.0.1",
  });
  const found = app.routes
    .filter(({ method }) => ["POST", "PUT", "DELETE", "PATCH"].includes(method))
    .filter(({ path }) => path.startsWith("/api/v1/") && !path.includes("*"))
    .map(({ method, path }) => ({ method, path: path.replaceAll(/:[A-Za-z]+(\{[^}]*\})?/g, "x") }));
  return found.filter(({ path }) => !/\/session\/(token|code|links|provider)$/.test(path));
}

async function onEveryRoute(target: AuthTarget, headers: Headers, expected: RegExp): Promise<void> {
  const browser = await target.signIn();
  const routes = changingRoutes();
  assert.ok(routes.length > 40, `only ${routes.length} routes`);
  for (const { method, path } of routes) {
    const answer = await browser.send(target.url + path, { method, headers, body: "{}" });
    const told = await answer.text();
    assert.match(`${answer.status} ${told}`, expected, `${method} ${path}`);
  }
  assert.equal((await target.standing(browser)).session?.principal, "root");
}

const plain = { "content-type": "text/plain" };

export const browserCases: readonly HostileCase<AuthTarget>[] = [
  forged("JSON, from its own origin", (_, csrf) => ({
    origin: "https://evil.example",
    "x-grange-csrf": csrf,
  })),
  forged("JSON, from another port of this host", (_, csrf) => ({
    origin: "http://127.0.0.1:1",
    "x-grange-csrf": csrf,
  })),
  forged("JSON, from an origin whose name begins with ours", (t, csrf) => ({
    origin: `${originOf(t)}.evil.example`,
    "x-grange-csrf": csrf,
  })),
  forged("JSON, from a sandboxed frame (Origin: null)", (_, csrf) => ({
    origin: "null",
    "x-grange-csrf": csrf,
  })),
  forged("JSON, without an origin", (_, csrf) => ({ "x-grange-csrf": csrf })),
  forged("JSON, without the page's word", (t) => ({ origin: originOf(t) })),
  forged("JSON, with an empty word", (t) => ({ origin: originOf(t), "x-grange-csrf": "" })),
  forged("JSON, with the word of another session", async (t) => {
    const csrf = (await t.standing(await t.signIn())).csrf ?? "";
    return { origin: originOf(t), "x-grange-csrf": csrf };
  }),
  forged("what the browser itself calls cross-site", (t, csrf) => ({
    origin: originOf(t),
    "x-grange-csrf": csrf,
    "sec-fetch-site": "cross-site",
  })),
  forged("plain text", (t) => ({ ...plain, origin: originOf(t) })),
  forged(
    "a form",
    () => ({ "content-type": "application/x-www-form-urlencoded" }),
    "pattern=evil-*&reason=mine",
  ),
  forged("a form of parts", () => ({ "content-type": "multipart/form-data; boundary=x" }), "--x--"),
  forged("no content type at all", () => ({ "content-type": "" })),
  forged("another method in a header", (t) => ({
    origin: originOf(t),
    "x-http-method-override": "GET",
  })),
  {
    name: "a request that another site makes a browser send: JSON to every route that changes something",
    alone: true,
    run: (target) =>
      onEveryRoute(
        target,
        { "content-type": "application/json", origin: "https://evil.example" },
        /^403 .*not accepted in the name of root/,
      ),
  },
  {
    name: "a request that another site makes a browser send: text to every route that changes something",
    alone: true,
    run: (target) =>
      onEveryRoute(target, plain, /^(400 .*application\/json|403 .*not accepted in the name)/),
  },
  {
    name: "a sign-in that another site causes in a browser, to the attacker's account",
    async run(target) {
      for (const headers of [{ ...plain }, { "sec-fetch-site": "cross-site" }]) {
        const browser = cookieJarBrowser();
        const answer = await target.post(
          "/session/token",
          { token: target.root },
          headers,
          browser,
        );
        assert.ok([400, 403].includes(answer.status));
        assert.equal(browser.cookies.size, 0);
      }
    },
  },
  {
    name: "a session that was planted before signing in (fixation)",
    async run(target) {
      const name = [...(await target.signIn()).cookies.keys()][0] ?? "";
      const planted = `${"A".repeat(42)}A`;
      const victim = cookieJarBrowser(new Map([[name, planted]]));
      await target.post("/session/token", { token: target.root }, {}, victim);

      assert.notEqual(victim.cookies.get(name), planted);
      const mallory = cookieJarBrowser(new Map([[name, planted]]));
      assert.equal((await target.standing(mallory)).session, null);
    },
  },
  {
    name: "a valid session that was planted before another user signs in",
    async run(target) {
      const mallory = await target.signIn();
      const victim = cookieJarBrowser(new Map(mallory.cookies));
      await target.post("/session/token", { token: target.root }, {}, victim);

      assert.equal((await target.standing(mallory)).session, null);
      assert.equal((await target.standing(victim)).session?.principal, "root");
    },
  },
  {
    name: "a cookie that was stolen before signing out",
    async run(target) {
      const browser = await target.signIn();
      const stolen = cookieJarBrowser(new Map(browser.cookies));
      const csrf = (await target.standing(browser)).csrf ?? "";
      const headers = { origin: originOf(target), "x-grange-csrf": csrf };
      await target.post("/session/end", {}, headers, browser);

      assert.equal((await target.standing(stolen)).session, null);
      assert.equal((await target.post("/drains", drain, headers, stolen)).status, 401);
    },
  },
  {
    name: "two session cookies, one of them planted",
    async run(target) {
      const [[name, value] = ["", ""]] = (await target.signIn()).cookies;
      const cookie = `${name}=${value}; ${name}=${"B".repeat(42)}A`;
      const answer = await fetch(`${target.url}/api/v1/session`, { headers: { cookie } });
      assert.equal(((await answer.json()) as { session: unknown }).session, null);
    },
  },
  {
    name: "a session cookie of the id that others can see, and other guesses",
    async run(target) {
      const browser = await target.signIn();
      const [name = ""] = browser.cookies.keys();
      const id = (await target.standing(browser)).session?.id ?? "";
      for (const guess of [id, `${id}' or true --`, "%00", "A".repeat(10_000), `"${id}"`]) {
        const guessing = cookieJarBrowser(new Map([[name, guess]]));
        assert.equal((await target.standing(guessing)).session, null);
      }
    },
  },
  {
    name: "a frame around every kind of page (clickjacking)",
    async run(target) {
      const paths = [
        "/",
        "/sign-in",
        "/graphs/x",
        "/auth/callback",
        "/api/v1/session",
        "/api/v1/nothing",
        "/nowhere.html",
      ];
      for (const path of paths) {
        const { headers } = await fetch(target.url + path, { redirect: "manual" });
        assert.match(headers.get("content-security-policy") ?? "", /frame-ancestors 'none'/, path);
        assert.equal(headers.get("x-frame-options"), "DENY", path);
      }
    },
  },
  {
    name: "a page of another site that reads who is signed in (CORS)",
    async run(target) {
      const browser = await target.signIn();
      const headers = { origin: "https://evil.example" };
      for (const path of ["/session", "/caller", "/graphs"]) {
        const answer = await browser.send(`${target.url}/api/v1${path}`, { headers });
        assert.equal(answer.headers.get("access-control-allow-origin"), null);
      }
      const { status, headers: allowed } = await browser.send(`${target.url}/api/v1/drains`, {
        method: "OPTIONS",
        headers: { ...headers, "access-control-request-method": "POST" },
      });
      assert.equal(allowed.get("access-control-allow-origin"), null, String(status));
    },
  },
];
