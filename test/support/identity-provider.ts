import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";
import { type Browser, cookieJarBrowser } from "./cookie-jar-browser.ts";

/** An account at the provider. */
interface Account {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly preferred_username?: string;
  readonly groups?: readonly string[];
}

/** A real OpenID Connect provider on loopback: every password is accepted for its accounts. */
export interface TestProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly accounts: Map<string, Account>;
  /** Registers a redirect URI; before that, the provider only serves its keys. */
  register(redirectUri: string): Promise<void>;
  /** Signs in with an account and any password, and returns the URL of the redirect. */
  visit(address: string, login: string): Promise<URL>;
  stop(): Promise<void>;
}

export async function startTestProvider(): Promise<TestProvider> {
  let answer: RequestListener = (_, response) => response.writeHead(503).end();
  const server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clientId = "grange";
  const clientSecret = "secret+of%the&client:=~";
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: "provider", use: "sig", alg: "RS256" };
  const accounts = new Map<string, Account>();

  const serve = (redirectUris: readonly string[]) => {
    const provider = quietly(
      () =>
        new Provider(issuer, {
          clients: [
            { client_id: clientId, client_secret: clientSecret, redirect_uris: redirectUris },
          ],
          pkce: { required: () => true },
          scopes: ["openid", "email", "profile"],
          claims: {
            openid: ["sub"],
            email: ["email", "email_verified"],
            profile: ["preferred_username", "groups"],
          },
          findAccount: (_: unknown, id: string) => {
            const account = accounts.get(id);
            return account && { accountId: id, claims: () => ({ sub: id, ...account }) };
          },
          jwks: { keys: [key] },
          cookies: { keys: ["for tests only"] },
          ttl: { Session: 3600, Interaction: 600, Grant: 3600, AccessToken: 600, IdToken: 600 },
        }),
    );
    answer = provider.callback();
  };
  serve(["http://127.0.0.1:1/auth/callback"]);

  return {
    issuer,
    clientId,
    clientSecret,
    accounts,
    async register(redirectUri) {
      serve([redirectUri]);
    },
    visit: (address, login) => visit(cookieJarBrowser(), address, login, issuer),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** Submits the provider's forms until it redirects to another host. */
async function visit(
  browser: Browser,
  address: string,
  login: string,
  issuer: string,
): Promise<URL> {
  let response = await browser.send(address);
  for (let steps = 0; steps < 20; steps += 1) {
    const location = response.headers.get("location");
    if (location !== null) {
      const next = new URL(location, response.url);
      if (next.origin !== issuer) return next;
      response = await browser.send(next.href);
      continue;
    }
    const page = await response.text();
    const [, action = ""] = /<form[^>]* action="([^"]+)"/.exec(page) ?? [];
    const [, prompt = ""] = /name="prompt" value="([a-z]+)"/.exec(page) ?? [];
    if (action === "") throw new Error(`the provider answered ${response.status}: ${page}`);
    response = await browser.send(new URL(action, response.url).href, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ prompt, login, password: "none" }).toString(),
    });
  }
  throw new Error("the provider sends the browser round in circles");
}

/** Runs it without the provider's warnings about non-production settings on the console. */
function quietly<T>(work: () => T): T {
  const { warn, info } = console;
  Object.assign(console, { warn: () => {}, info: () => {} });
  try {
    return work();
  } finally {
    Object.assign(console, { warn, info });
  }
}
