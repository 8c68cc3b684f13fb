import { Hono } from "hono";
import { RemoveSecret, SetSecret } from "#api/secret.ts";
import { jsonBody } from "./json-body.ts";
import { principalOf } from "./principal.ts";
import type { SecretFarm } from "./secret-farm.ts";

/** What runs are given and nobody else may read. There is no route that answers a value. */
export function secretRoutes(farm: SecretFarm): Hono {
  const routes = new Hono();

  routes.get("/secrets", async (c) => c.json(await farm.secrets(principalOf(c))));
  routes.post("/secrets", async (c) =>
    c.json(
      await farm.setSecret(
        await jsonBody(c, SetSecret, { bytes: 96 * 1024, verb: "secret" }),
        principalOf(c),
      ),
    ),
  );
  routes.post("/secrets/remove", async (c) => {
    const at = await jsonBody(c, RemoveSecret);
    await farm.removeSecret(at, principalOf(c));
    return c.json({ removed: at });
  });

  return routes;
}
