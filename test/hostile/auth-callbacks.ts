import assert from "node:assert/strict";
import { type Browser, cookieJarBrowser } from "../support/cookie-jar-browser.ts";
import type { AuthTarget } from "./auth-target.ts";
import type { HostileCase } from "./case.ts";

/** A response of the provider that must not sign in a user. */
function unanswered(
  name: string,
  bring: (
    target: AuthTarget,
    browser: Browser,
  ) => Promise<{ readonly by: Browser; readonly url: string }>,
  why: RegExp,
): HostileCase<AuthTarget> {
  return {
    name: `an answer to a sign-in: ${name}`,
    async run(target) {
      const { by, url } = await bring(target, cookieJarBrowser());
      const before = (await target.standing(by)).session;
      const answer = await by.send(url);
      const { session, problem } = await target.standing(by);

      assert.equal(answer.headers.get("location"), "/sign-in");
      assert.match(problem ?? "", why);
      assert.deepEqual(session, before);
    },
  };
}

export const callbackCases: readonly HostileCase<AuthTarget>[] = [
  unanswered(
    "used a second time",
    async (target, browser) => {
      const { href } = await target.callbackFor(browser);
      const kept = new Map(browser.cookies);
      await browser.send(href);
      return { by: cookieJarBrowser(kept), url: href };
    },
    /was used before/,
  ),
  unanswered(
    "in a browser that did not begin it",
    async (target, browser) => ({
      by: cookieJarBrowser(),
      url: (await target.callbackFor(browser)).href,
    }),
    /has not begun to sign in/,
  ),
  unanswered(
    "in a browser that began another (login CSRF)",
    async (target, browser) => {
      const victim = cookieJarBrowser();
      await target.callbackFor(victim);
      return { by: victim, url: (await target.callbackFor(browser)).href };
    },
    /another browser/,
  ),
  unanswered(
    "without a state",
    async (target, browser) => ({
      by: browser,
      url: without(await target.callbackFor(browser), "state"),
    }),
    /another browser/,
  ),
  unanswered(
    "with the code of another attempt (PKCE)",
    async (target, browser) => {
      const own = await target.callbackFor(browser);
      const other = await target.callbackFor(cookieJarBrowser());
      own.searchParams.set("code", other.searchParams.get("code") ?? "");
      return { by: browser, url: own.href };
    },
    /no longer accepts this code|the answer is not from/,
  ),
  unanswered(
    "in the name of another provider (mix-up)",
    async (target, browser) => {
      const own = await target.callbackFor(browser);
      own.searchParams.set("iss", "https://evil.example");
      return { by: browser, url: own.href };
    },
    /the answer is not from/,
  ),
  unanswered(
    "with a refusal and a script in it",
    async (target, browser) => {
      const own = await target.callbackFor(browser);
      const state = own.searchParams.get("state") ?? "";
      const said = encodeURIComponent("<script>alert(1)</script>");
      return {
        by: browser,
        url: `${target.url}/auth/callback?state=${state}&error=${said}&iss=${encodeURIComponent(target.provider.issuer)}`,
      };
    },
    /refused the sign-in: an error/,
  ),
  ...[
    "//evil.example/",
    "https://evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "javascript:alert(1)",
    "/api/v1/graphs",
  ].map(
    (returnTo): HostileCase<AuthTarget> => ({
      name: `a way back after signing in that leads elsewhere: ${JSON.stringify(returnTo)}`,
      async run(target) {
        const browser = cookieJarBrowser();
        const answer = await browser.send((await target.callbackFor(browser, returnTo)).href);
        assert.equal(answer.status, 303);
        assert.equal(answer.headers.get("location"), "/");
      },
    }),
  ),
];

function without(url: URL, name: string): string {
  url.searchParams.delete(name);
  return url.href;
}
