import { readFile } from "node:fs/promises";
import { extname, join, normalize, sep } from "node:path";
import { Hono } from "hono";

const typeOf: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".map": "application/json",
  ".woff2": "font/woff2",
  ".png": "image/png",
  ".ico": "image/x-icon",
};

const notBuilt = "The pages are not built. Run `npm run build`, then start the server again.\n";

/** The built pages: files by their name, and the one page for every other address. */
export function pageRoutes(webDir: string | undefined): Hono {
  const routes = new Hono();

  routes.get("*", async (c) => {
    if (webDir === undefined) return c.text(notBuilt, 503);
    const path = normalize(decodeURIComponent(c.req.path));
    const file = path.includes(".") && !path.includes("\0") ? join(webDir, path) : undefined;
    const bytes =
      file?.startsWith(webDir + sep) === true
        ? await readFile(file).catch(() => undefined)
        : undefined;
    if (bytes !== undefined && file !== undefined) {
      // Names of assets carry a hash of their content.
      if (path.startsWith("/assets/")) {
        c.header("cache-control", "public, max-age=31536000, immutable");
      }
      c.header("content-type", typeOf[extname(file)] ?? "application/octet-stream");
      return c.body(new Uint8Array(bytes).buffer);
    }
    if (path.startsWith("/assets/")) return c.text("There is no such file.\n", 404);
    const page = await readFile(join(webDir, "index.html")).catch(() => undefined);
    if (page === undefined) return c.text(notBuilt, 503);
    c.header("cache-control", "no-cache");
    return c.html(page.toString());
  });

  return routes;
}
