import type { Context, MiddlewareHandler } from "hono";
import type { Principal } from "#access/principal.ts";
import { Fault } from "#core/fault.ts";

declare module "hono" {
  interface ContextVariableMap {
    principal: Principal;
  }
}

/** Finds the principal of an `Authorization` header; undefined is that of a request without one. */
export type Identify = (authorization: string | undefined) => Promise<Principal>;

/** Puts the acting principal into the context, or ends the request with 401. */
export function authenticate(identify: Identify): MiddlewareHandler {
  return async (c, next) => {
    c.set("principal", await identify(c.req.header("authorization")));
    await next();
  };
}

/** Who asks. A route that is mounted without `authenticate` fails here, rather than being open to all. */
export function principalOf(c: Context): Principal {
  const principal: Principal | undefined = c.get("principal");
  if (principal === undefined) throw new Fault("internal", `nobody asked who calls ${c.req.path}`);
  return principal;
}
