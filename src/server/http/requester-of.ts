import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import type { Principal } from "#access/principal.ts";
import type { Requester } from "../request-limits/request-limits.ts";
import { requesterAddress } from "../request-limits/requester-address.ts";

/** Returns by whom a request counts. */
export function requesterOf(c: Context, { name }: Pick<Principal, "name">): Requester {
  return { principal: name, address: addressOf(c) };
}

/** Returns the address by which a request counts. */
export function addressOf(c: Context): string {
  const socket = (c.env as Partial<HttpBindings> | undefined)?.incoming?.socket;
  return requesterAddress(socket?.remoteAddress, c.req.header("x-forwarded-for"));
}
