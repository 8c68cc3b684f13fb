import { readFile } from "node:fs/promises";
import { extname, join, normalize, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { type Context, Hono } from "hono";
import type { SessionStanding } from "#api/session.ts";
import { withSession } from "#api/session-in-page.ts";
import { inTime } from "#core/in-time.ts";
import { answerOneBrowser } from "./one-browser.ts";
import { assetsOf, preloadHeader } from "./preload-header.ts";

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

interface WebFile {
  readonly plain: Buffer;
  readonly gzipped: Buffer;
  /** Set a moment after the first request for an asset. */
  brotli?: Buffer;
}

const gzipped = promisify(gzip);

/** 13 % smaller than gzip for the scripts of the pages; 0.4 s for the largest, so no request waits for it. */
const brotliQuality = 10;

async function addBrotli(file: WebFile): Promise<void> {
  file.brotli = await promisify(brotliCompress)(file.plain, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
      [constants.BROTLI_PARAM_SIZE_HINT]: file.plain.byteLength,
    },
  });
}

/** Returns the session of the browser that sent this cookie header, and the cookies to set. */
type SessionOf = (cookie: string | undefined) => Promise<{
  readonly standing: SessionStanding;
  readonly cookies: readonly string[];
}>;

/** A page without its session requests it; so a database that does not answer delays no page for longer. */
const sessionWithinMs = 1_000;

/**
 * Serves the built pages: files by their name, and the one page for every other address. The page has the browser's
 * session in it; without `sessionOf`, or when it fails, the page requests the session itself.
 */
export function pageRoutes(webDir: string | undefined, sessionOf?: SessionOf): Hono {
  const routes = new Hono();
  if (webDir === undefined) return routes.get("*", (c) => c.text(notBuilt, 503));
  // A few hundred kilobytes in total; their names contain a hash of their content, so they never change.
  const assets = new Map<string, WebFile>();

  async function fileAt(path: string): Promise<WebFile | undefined> {
    const known = assets.get(path);
    if (known !== undefined) return known;
    const place = join(webDir ?? "", path);
    if (path.includes("\0") || !place.startsWith(webDir + sep)) return undefined;
    const plain = await readFile(place).catch(() => undefined);
    if (plain === undefined) return undefined;
    const file: WebFile = { plain, gzipped: await gzipped(plain) };
    if (isAsset(path)) {
      assets.set(path, file);
      // Without it, the file is sent as gzip.
      void addBrotli(file).catch(() => {});
    }
    return file;
  }

  // The documents are a site of their own, with relative links.
  routes.get("/docs", (c) => c.redirect("/docs/index.html"));
  routes.get("/docs/", (c) => c.redirect("/docs/index.html"));

  routes.get("*", async (c) => {
    const path = normalize(c.req.path);
    const file = extname(path) === "" ? undefined : await fileAt(path);
    if (file !== undefined) {
      if (isAsset(path)) c.header("cache-control", "public, max-age=31536000, immutable");
      return send(c, file, typeOf[extname(path)] ?? "application/octet-stream");
    }
    if (isAsset(path)) return c.text("There is no such file.\n", 404);
    if (path.startsWith("/docs/")) return c.text("There is no such document: see /docs.\n", 404);
    const page = await fileAt("/index.html");
    if (page === undefined) return c.text(notBuilt, 503);
    const html = page.plain.toString();
    const preload = preloadHeader({ path, query: c.req.query(), assets: assetsOf(html) });
    if (preload !== undefined) c.header("link", preload);
    const session = await sessionInTime(sessionOf, c.req.header("cookie"));
    if (session === undefined) {
      c.header("cache-control", "no-cache");
      return send(c, page, "text/html; charset=utf-8");
    }
    answerOneBrowser(c, session.cookies);
    return c.html(withSession(html, session.standing));
  });

  return routes;
}

/** Returns undefined when the session cannot be read: the page then requests it, and shows why it fails. */
async function sessionInTime(sessionOf: SessionOf | undefined, cookie: string | undefined) {
  if (sessionOf === undefined) return undefined;
  try {
    const session = await inTime(sessionOf(cookie), sessionWithinMs);
    return session === "late" ? undefined : session;
  } catch {
    return undefined;
  }
}

function isAsset(path: string): boolean {
  return path.startsWith("/assets/");
}

function send(c: Context, file: WebFile, type: string): Response {
  const accepted = c.req.header("accept-encoding") ?? "";
  const { encoding, bytes } = encodedFor(accepted, file);
  c.header("content-type", type);
  c.header("vary", "accept-encoding");
  if (encoding !== undefined) c.header("content-encoding", encoding);
  return c.body(new Uint8Array(bytes).buffer);
}

function encodedFor(accepted: string, { plain, gzipped, brotli }: WebFile) {
  if (brotli !== undefined && /\bbr\b/.test(accepted)) return { encoding: "br", bytes: brotli };
  if (/\bgzip\b/.test(accepted)) return { encoding: "gzip", bytes: gzipped };
  return { encoding: undefined, bytes: plain };
}
