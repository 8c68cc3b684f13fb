import { SessionStanding, SignInAddress } from "#api/session.ts";
import { type Browser, cookieJarBrowser } from "../support/cookie-jar-browser.ts";
import type { TestProvider } from "../support/identity-provider.ts";
import { startTokenIssuer, type TokenIssuer } from "../support/token-issuer.ts";
import type { OpenOptions, OpenSuite } from "./case.ts";
import { openClosedFarm } from "./closed-farm.ts";

/** A closed farm with an identity provider and two trusted issuers of signed tokens. */
export interface AuthTarget {
  readonly url: string;
  readonly pid: number;
  readonly provider: TestProvider;
  readonly issuer: TokenIssuer;
  /** Trusted for another principal. */
  readonly otherIssuer: TokenIssuer;
  readonly audience: string;
  /** A token with all permissions. */
  readonly root: string;
  /** Returns the complete log of the server. */
  readonly logged: () => string;
  /** Returns a browser that is signed in with a token. */
  signIn(token?: string): Promise<Browser>;
  standing(browser: Browser): Promise<SessionStanding>;
  /** POSTs JSON below /api/v1, with exactly these headers. */
  post(
    path: string,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
    browser?: Browser,
  ): Promise<Response>;
  /**
   * Starts a sign-in at the provider; returns the URL to which the provider redirects the browser.
   */
  callbackFor(browser: Browser, returnTo?: string): Promise<URL>;
}

/** Returns claims with a correct issuer, audience and subject. */
export function goodClaims({ audience }: AuthTarget): {
  readonly aud: string;
  readonly sub: string;
} {
  return { aud: audience, sub: "repo:org/app:ref:refs/heads/main" };
}

const json = { "content-type": "application/json" };

export async function openAuthTarget(options: OpenOptions): Promise<OpenSuite<AuthTarget>> {
  const farm = await openClosedFarm(options);
  const { url, provider, root, pid, logged } = farm.target;
  const [issuer, otherIssuer] = await Promise.all([startTokenIssuer(), startTokenIssuer("key-2")]);
  provider.accounts.set("alice", { email: "alice@farm.example", email_verified: true });

  const post: AuthTarget["post"] = (path, body, headers = {}, browser = cookieJarBrowser()) =>
    browser.send(`${url}/api/v1${path}`, {
      method: "POST",
      headers: { ...json, ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const standing = async (browser: Browser) =>
    SessionStanding.parse(await (await browser.send(`${url}/api/v1/session`)).json());
  const asRoot = { authorization: `Bearer ${root}` };
  const audience = "https://farm.example";
  const set = async (path: string, body: unknown) => {
    const done = await post(path, body, asRoot);
    if (!done.ok) throw new Error(`${path}: ${done.status} ${await done.text()}`);
  };
  const rule = { audience, subject: "repo:org/app:*" };
  await set("/issuers", { name: "ci", url: issuer.url, principal: "ci-app", ...rule });
  await set("/issuers", { name: "other", url: otherIssuer.url, principal: "ci-other", ...rule });

  const target: AuthTarget = {
    url,
    pid,
    provider,
    issuer,
    otherIssuer,
    audience,
    root,
    logged,
    post,
    standing,
    async signIn(token = root) {
      const browser = cookieJarBrowser();
      const answer = await post("/session/token", { token }, {}, browser);
      if (answer.status !== 201) throw new Error(`not signed in: ${await answer.text()}`);
      return browser;
    },
    async callbackFor(browser, returnTo) {
      const begun = await post("/session/provider", { returnTo }, {}, browser);
      return provider.visit(SignInAddress.parse(await begun.json()).url, "alice");
    },
  };
  return {
    target,
    async stop() {
      await farm.stop();
      await Promise.all([issuer.stop(), otherIssuer.stop()]);
    },
  };
}
