import type { HttpBindings } from "@hono/node-server";
import type { Context, MiddlewareHandler } from "hono";
import type { Principal } from "#access/principal.ts";
import { Fault } from "#core/fault.ts";
import { certificateOf } from "#grpc/issued-to.ts";
import type { BrowserSignIn } from "../sign-in/browser-sign-in.ts";
import { addressOf } from "./requester-of.ts";

declare module "hono" {
  interface ContextVariableMap {
    /** The id of the request, in its answer and in the log. */
    requestId: string;
    principal: Principal;
    /** Identifies the caller again. */
    identify: () => Promise<Principal>;
    /** Throws when the caller may not make the call any more: for answers that take a while. */
    stillMay: () => Promise<unknown>;
    /** Counts a stream of events of the caller; returns the function that ends it. */
    beginStream: () => () => void;
  }
}

/** Identifies the caller: by an `Authorization` header, else by the cookie of a signed-in browser. */
export interface CallerIdentifier extends Pick<BrowserSignIn, "identifySession"> {
  identify(
    authorization: string | undefined,
    certificateOf?: string,
    address?: string,
  ): Promise<Principal>;
}

/**
 * Puts the caller into the context, or ends the request.
 *
 * Browsers send a cookie automatically, also for pages of other sites. A request that only a cookie identifies must
 * therefore prove that it comes from a page of this farm. This is checked here for all routes.
 */
export function authenticate(farm: CallerIdentifier): MiddlewareHandler {
  return async (c, next) => {
    c.set("principal", await callerOf(c, farm));
    c.set("identify", () => callerOf(c, farm));
    await next();
  };
}

async function callerOf(c: Context, farm: CallerIdentifier): Promise<Principal> {
  const authorization = c.req.header("authorization");
  const cookie = c.req.header("cookie");
  const issuedTo = certificateOf((c.env as Partial<HttpBindings> | undefined)?.incoming?.socket);
  if (authorization !== undefined || cookie === undefined)
    return farm.identify(authorization, issuedTo, addressOf(c));
  const signedIn = await farm.identifySession(cookie, {
    method: c.req.method,
    host: c.req.header("host"),
    origin: c.req.header("origin"),
    fetchSite: c.req.header("sec-fetch-site"),
    csrf: c.req.header("x-grange-csrf"),
  });
  return signedIn ?? farm.identify(undefined, issuedTo);
}

/** Returns the caller. On a route without `authenticate` it throws, so that no route is open by mistake. */
export function principalOf(c: Context): Principal {
  const principal: Principal | undefined = c.get("principal");
  if (principal === undefined) throw new Fault("internal", `nobody asked who calls ${c.req.path}`);
  return principal;
}

/** Returns the caller with its present rights. Throws when its token or session is over. */
export async function identifyAgain(c: Context): Promise<Principal> {
  const identify: (() => Promise<Principal>) | undefined = c.get("identify");
  return identify === undefined ? principalOf(c) : identify();
}
