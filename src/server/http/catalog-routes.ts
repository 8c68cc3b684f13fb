import { Hono } from "hono";
import { z } from "zod";
import { SetBranch } from "#api/branch.ts";
import { PushCatalog } from "#api/catalog.ts";
import { PreviewGraph } from "#api/preview.ts";
import { Fault } from "#core/fault.ts";
import type { CatalogFarm } from "./catalog-farm.ts";
import { jsonBody, requireJson, submittedDefinitions } from "./json-body.ts";
import { principalOf } from "./principal.ts";

const ListQuery = z.object({ limit: z.coerce.number().int().min(1).max(200).default(50) });

const DiffQuery = z.object({
  a: z.string().min(1).max(5_000),
  b: z.string().min(1).max(5_000),
  repository: z.string().max(4_096).optional(),
});

/** All definition files of a large repository: the largest body that anybody posts. */
const pushedDefinitions = { bytes: 48 * 1024 * 1024, verb: "define" } as const;

/** Catalogs of definitions, what differs between them, and what would become of them. */
export function catalogRoutes(farm: CatalogFarm): Hono {
  const routes = new Hono();

  routes.get("/catalogs", async (c) =>
    c.json(await farm.catalogs(queryOf(ListQuery, c.req.query()).limit)),
  );

  routes.post("/catalogs", async (c) => {
    const files = await jsonBody(c, PushCatalog, pushedDefinitions);
    const pushed = await farm.pushCatalog(files, principalOf(c));
    return c.json(pushed, pushed.isNew ? 201 : 200);
  });

  routes.get("/catalogs/diff", async (c) => {
    const { a, b, repository } = queryOf(DiffQuery, c.req.query());
    return c.json(await farm.catalogDiff(a, b, repository, principalOf(c)));
  });

  // A digest is `<hash>/<size>`; either the slash is escaped, or the size is left out.
  routes.get("/catalogs/:digest", async (c) => c.json(await farm.catalog(c.req.param("digest"))));

  routes.post("/graphs/preview", async (c) => {
    const choice = await jsonBody(c, PreviewGraph, submittedDefinitions);
    return c.json(await farm.previewGraph(choice, principalOf(c)));
  });

  routes.get("/repositories/:name/branches", async (c) =>
    c.json(await farm.branches(c.req.param("name"), principalOf(c))),
  );

  routes.get("/repositories/:name/branches/:branch", async (c) =>
    c.json(await farm.branch(c.req.param("name"), c.req.param("branch"), principalOf(c))),
  );

  routes.put("/repositories/:name/branches/:branch", async (c) => {
    requireJson(c);
    const request = await jsonBody(c, SetBranch);
    const { name, branch } = c.req.param();
    return c.json(await farm.setBranch(name, branch, request, principalOf(c)));
  });

  return routes;
}

function queryOf<Shape extends z.ZodType>(
  shape: Shape,
  query: Record<string, string>,
): z.output<Shape> {
  const parsed = shape.safeParse(query);
  if (!parsed.success) throw new Fault("invalid_argument", z.prettifyError(parsed.error));
  return parsed.data;
}
