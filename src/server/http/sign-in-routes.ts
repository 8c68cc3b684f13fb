import { type Context, Hono } from "hono";
import { anyone } from "#access/principal.ts";
import { signInEndpoints } from "#api/endpoints/sign-in-endpoints.ts";
import { Fault } from "#core/fault.ts";
import { callbackPath } from "#sign-in/provider/identity-provider.ts";
import type { RequestLimits } from "../request-limits/request-limits.ts";
import type { BrowserSignIn } from "../sign-in/browser-sign-in.ts";
import { answerOneBrowser } from "./one-browser.ts";
import { requesterOf } from "./requester-of.ts";
import { type HandlersFor, serveEndpoints } from "./serve-endpoints.ts";

/** Serves the endpoints of sign-in; `signInEndpoints` explains why they are separate. */
export function signInRoutes(farm: BrowserSignIn, limits?: RequestLimits): Hono {
  const routes = new Hono();
  routes.use("/session/*", async (c, next) => {
    // Another site could sign the user in with another account; the user would then act under that account.
    const site = c.req.header("sec-fetch-site");
    if (site !== undefined && site !== "same-origin" && site !== "none") {
      throw new Fault("permission_denied", "pages of other sites cannot sign a user in or out");
    }
    await next();
  });
  const nobodyYet = () => ({ name: anyone, grants: [] });
  const options = { callerOf: nobodyYet, ...(limits === undefined ? {} : { limits }) };
  routes.route("/", serveEndpoints(signInEndpoints, signInHandlers(farm), options));
  return routes;
}

function signInHandlers(farm: BrowserSignIn): HandlersFor<typeof signInEndpoints> {
  const cookieOf = (c: Context) => c.req.header("cookie");
  return {
    async session({ context }) {
      const { standing, cookies } = await farm.session(cookieOf(context));
      answerOneBrowser(context, cookies);
      return standing;
    },
    signInWithToken: async ({ body, context }) =>
      signedIn(context, await farm.signInWithToken(body.token, cookieOf(context))),
    signInWithCode: async ({ body, context }) =>
      signedIn(context, await farm.signInWithCode(body.code, cookieOf(context))),
    signInLink({ context }) {
      answerOneBrowser(context, []);
      return farm.signInLink(context.req.header("authorization"));
    },
    async beginSignIn({ body, context }) {
      const { url, cookie } = await farm.beginSignIn(body.returnTo);
      answerOneBrowser(context, [cookie]);
      return { url };
    },
  };
}

/** The page to which the identity provider redirects people; it is not part of the API. */
export function callbackRoutes(farm: BrowserSignIn, limits?: RequestLimits): Hono {
  const routes = new Hono();
  routes.get(callbackPath, async (c) => {
    answerOneBrowser(c, []);
    const end = limits?.begin("sign-in", requesterOf(c, { name: anyone }));
    try {
      const { search } = new URL(c.req.url);
      const { cookies, returnTo } = await farm.finishSignIn(search, c.req.header("cookie"));
      answerOneBrowser(c, cookies);
      return c.redirect(returnTo, 303);
    } catch (reason) {
      if (!(reason instanceof Fault) || reason.code === "internal") throw reason;
      answerOneBrowser(c, [farm.noteProblem(reason.message)]);
      return c.redirect("/sign-in", 303);
    } finally {
      end?.();
    }
  });
  return routes;
}

function signedIn(
  c: Context,
  { cookies, principal }: { readonly cookies: readonly string[]; readonly principal: string },
) {
  answerOneBrowser(c, cookies);
  return { principal };
}
