import { Hono } from "hono";
import { AddGrant, CreateToken, RemoveGrants, SignCatalog, TrustKey } from "#api/access.ts";
import { AuditQuery } from "#api/audit.ts";
import { SetGraphPriority } from "#api/graph-priority.ts";
import { Fault } from "#core/fault.ts";
import { found } from "../handlers/found.ts";
import type { AccessFarm } from "./access-farm.ts";
import type { Farm } from "./farm.ts";
import { graphId } from "./graph-routes.ts";
import { jsonBody, noOptions } from "./json-body.ts";
import { principalOf } from "./principal.ts";
import { queryOf } from "./query.ts";

/** Tokens, grants, keys, signatures, and the priority of a graph. */
export function accessRoutes(farm: AccessFarm & Pick<Farm, "findGraph">): Hono {
  const routes = new Hono();

  routes.get("/caller", (c) => {
    const { name, kind, grants } = principalOf(c);
    return c.json({ name, kind, grants });
  });

  routes.get("/tokens", async (c) => c.json(await farm.tokens(principalOf(c))));
  routes.post("/tokens", async (c) => {
    const created = await farm.createToken(await jsonBody(c, CreateToken), principalOf(c));
    // Nobody on the way may keep it.
    c.header("cache-control", "no-store");
    return c.json(created, 201);
  });
  routes.post("/tokens/:id/revoke", async (c) => {
    await noOptions(c);
    return c.json(await farm.revokeToken(c.req.param("id"), principalOf(c)));
  });

  routes.get("/principals/:name", async (c) =>
    c.json(await farm.rightsOf(c.req.param("name"), principalOf(c))),
  );
  routes.get("/audit", async (c) =>
    c.json(await farm.audit(queryOf(c, AuditQuery), principalOf(c))),
  );

  routes.get("/grants", async (c) => c.json(await farm.grants(principalOf(c))));
  routes.post("/grants", async (c) =>
    c.json(await farm.addGrant(await jsonBody(c, AddGrant), principalOf(c))),
  );
  routes.post("/grants/remove", async (c) => {
    const named = await jsonBody(c, RemoveGrants);
    return c.json({ removed: await farm.removeGrants(named, principalOf(c)) });
  });

  routes.get("/keys", async (c) => c.json(await farm.keys()));
  routes.post("/keys", async (c) =>
    c.json(await farm.trustKey(await jsonBody(c, TrustKey), principalOf(c))),
  );
  routes.post("/keys/:name/revoke", async (c) => {
    await noOptions(c);
    return c.json(await farm.revokeKey(c.req.param("name"), principalOf(c)));
  });

  routes.get("/signatures", async (c) => {
    const catalog = c.req.query("catalog");
    if (catalog === undefined) {
      throw new Fault("invalid_argument", "name a catalog: /signatures?catalog=DIGEST");
    }
    return c.json(found(await farm.catalogSignatures(catalog), `catalog "${catalog}"`));
  });
  routes.post("/signatures", async (c) =>
    c.json(await farm.signCatalog(await jsonBody(c, SignCatalog), principalOf(c))),
  );

  routes.post("/graphs/:id/priority", async (c) => {
    const request = await jsonBody(c, SetGraphPriority);
    const id = await graphId(farm, c.req.param("id"));
    return c.json(found(await farm.setGraphPriority(id, request, principalOf(c)), `graph ${id}`));
  });

  return routes;
}
