import { type Context, Hono } from "hono";
import { stream } from "hono/streaming";
import { projectOf } from "#cache-protocols/rev2/project-of.ts";
import { type Digest, parseDigestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { found } from "../handlers/found.ts";
import { asAttachment } from "./as-attachment.ts";
import type { Farm } from "./farm.ts";

/** What is shown as text is read whole. */
const mostTextBytes = 1024 * 1024;

/** Blobs of a project by their digest: to keep, to read, or to see what is in a directory. */
export function blobRoutes(farm: Farm): Hono {
  const routes = new Hono();

  routes.get("/blobs/:hash/:size", async (c) => {
    const digest = digestOf(c);
    const name = c.req.query("name") ?? digest.hash;
    if (c.req.query("as") === "text") return textOf(farm, c, digest);
    const project = projectIn(c);
    const chunks = found(await farm.readBlob(project, digest), describe(digest, project));
    asAttachment(c, name, digest);
    return stream(c, async (body) => {
      for await (const chunk of chunks) {
        // Whoever left wants no more of it.
        if (body.aborted) return;
        await body.write(chunk);
      }
    });
  });

  routes.get("/blobs/:hash/:size/tree", async (c) => {
    const digest = digestOf(c);
    const project = projectIn(c);
    return c.json(found(await farm.listTree(project, digest), describe(digest, project)));
  });

  return routes;
}

async function textOf(farm: Farm, c: Context, digest: Digest): Promise<Response> {
  if (digest.sizeBytes > mostTextBytes) {
    throw new Fault(
      "failed_precondition",
      `only blobs of up to ${mostTextBytes} bytes are shown as text; download it instead`,
    );
  }
  const project = projectIn(c);
  const chunks = found(await farm.readBlob(project, digest), describe(digest, project));
  const parts: Uint8Array[] = [];
  for await (const part of chunks) parts.push(part);
  const bytes = Buffer.concat(parts);
  if (!isText(bytes)) {
    throw new Fault("failed_precondition", "this blob is no UTF-8 text; download it instead");
  }
  c.header("content-type", "text/plain; charset=utf-8");
  c.header("content-security-policy", "default-src 'none'; sandbox");
  return c.body(new Uint8Array(bytes).buffer);
}

/** Escape sequences are text; a NUL is in no text that people wrote. */
function isText(bytes: Buffer): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function digestOf(c: Context): Digest {
  const written = `${c.req.param("hash") ?? ""}/${c.req.param("size") ?? ""}`;
  try {
    if (!/\/(0|[1-9]\d{0,15})$/.test(written)) throw new Error("no size");
    return parseDigestKey(written);
  } catch {
    throw new Fault("invalid_argument", `"${written.slice(0, 150)}" is no blob's name: HASH/SIZE`);
  }
}

/** Whose blob is meant: that of graphs unless it is said. */
function projectIn(c: Context): string {
  return projectOf(c.req.query("project") ?? "");
}

function describe(digest: Digest, project: string): string {
  return `blob ${digest.hash}/${digest.sizeBytes} in project "${project}"; what nobody uses for long is dropped`;
}
