import { type Context, Hono } from "hono";
import { BeginSignIn, SignInWithCode, SignInWithToken } from "#api/session.ts";
import { Fault } from "#core/fault.ts";
import { callbackPath } from "#sign-in/provider/identity-provider.ts";
import type { BrowserSignIn } from "../sign-in/browser-sign-in.ts";
import { jsonBody, noOptions } from "./json-body.ts";

/**
 * Signing in. No part of the table of endpoints: these are mounted above `authenticate`, which would refuse a browser
 * whose session is over, or whose page has no word of a session yet, and the header of `/session/links` is judged as the token to sign in with.
 */
export function signInRoutes(farm: BrowserSignIn): Hono {
  const routes = new Hono();
  const cookieOf = (c: Context) => c.req.header("cookie");

  routes.use("/session/*", async (c, next) => {
    // Whom somebody is made to be by a stranger's page does everything in the stranger's name.
    const site = c.req.header("sec-fetch-site");
    if (site !== undefined && site !== "same-origin" && site !== "none") {
      throw new Fault("permission_denied", "nobody is signed in or out by pages of other sites");
    }
    await next();
  });
  routes.get("/session", async (c) => {
    keepNowhere(c);
    const { standing, cookies } = await farm.session(cookieOf(c));
    setCookies(c, cookies);
    return c.json(standing);
  });
  routes.post("/session/token", async (c) => {
    const { token } = await jsonBody(c, SignInWithToken);
    return signedIn(c, await farm.signInWithToken(token, cookieOf(c)));
  });
  routes.post("/session/code", async (c) => {
    const { code } = await jsonBody(c, SignInWithCode);
    return signedIn(c, await farm.signInWithCode(code, cookieOf(c)));
  });
  routes.post("/session/links", async (c) => {
    await noOptions(c);
    keepNowhere(c);
    return c.json(await farm.signInLink(c.req.header("authorization")), 201);
  });
  routes.post("/session/provider", async (c) => {
    const { returnTo } = await jsonBody(c, BeginSignIn);
    const { url, cookie } = await farm.beginSignIn(returnTo);
    keepNowhere(c);
    setCookies(c, [cookie]);
    return c.json({ url });
  });
  return routes;
}

/** Where the identity provider sends people back to: a page, not the API. */
export function callbackRoutes(farm: BrowserSignIn): Hono {
  const routes = new Hono();
  routes.get(callbackPath, async (c) => {
    keepNowhere(c);
    try {
      const { search } = new URL(c.req.url);
      const { cookies, returnTo } = await farm.finishSignIn(search, c.req.header("cookie"));
      setCookies(c, cookies);
      return c.redirect(returnTo, 303);
    } catch (reason) {
      if (!(reason instanceof Fault) || reason.code === "internal") throw reason;
      setCookies(c, [farm.noteProblem(reason.message)]);
      return c.redirect("/sign-in", 303);
    }
  });
  return routes;
}

function signedIn(
  c: Context,
  { cookies, principal }: { readonly cookies: readonly string[]; readonly principal: string },
): Response {
  keepNowhere(c);
  setCookies(c, cookies);
  return c.json({ principal }, 201);
}

function setCookies(c: Context, cookies: readonly string[]): void {
  for (const cookie of cookies) c.header("set-cookie", cookie, { append: true });
}

/** Nobody on the way may keep what is for one browser. */
function keepNowhere(c: Context): void {
  c.header("cache-control", "no-store");
  c.header("cross-origin-resource-policy", "same-origin");
}
