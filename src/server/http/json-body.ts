import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import { z } from "zod";
import { requireGrantSomewhere } from "#access/require-grant.ts";
import { Fault } from "#core/fault.ts";
import type { Verb } from "#core/verb.ts";
import { peerOf } from "#grpc/read-in-turns.ts";
import { piecesInTurns } from "#scheduling/pieces-in-turns.ts";
import { BodyTooLarge } from "./body-too-large.ts";
import { JsonValueCount } from "./json-value-count.ts";
import { principalOf } from "./principal.ts";
import { type UnknownKey, unknownKeys } from "./unknown-keys.ts";

/** Most bodies are a few names and numbers. */
const smallBytes = 64 * 1024;

/** Parsing and checking this many values takes less than 0.1 s. */
const mostValues = 250_000;

/** The maximum number of unknown keys that an error lists. */
const mostListed = 20;

const NoOptions = z.strictObject({});

/** The limit of a route that accepts bodies above 64 KiB. */
interface LargeBody {
  readonly bytes: number;
  /** Only callers with this right may send more than 64 KiB. */
  readonly verb: Verb;
}

/**
 * Refuses a request whose content type is not JSON, also where the body is not read.
 *
 * A page of another origin cannot send `application/json` without a preflight request, which is not answered; it could
 * send plain text to cancel a graph.
 */
export function requireJson(c: Context): void {
  const type = c.req.header("content-type") ?? "";
  if (!/^application\/json\b/i.test(type)) {
    throw new Fault("invalid_argument", "send the body as Content-Type: application/json");
  }
}

/**
 * Reads the body of a request and checks its shape.
 *
 * Reads at most 64 KiB, or the limit of `large` when the caller has its right for any place; the right for the exact
 * repository is often known only after the body was read.
 *
 * Keys that the shape does not have are refused at every level (`unknownKeys`): an option that is misspelt, or of
 * another version, is never ignored.
 *
 * Throws `permission_denied` where a large body needs a right that the caller lacks, `BodyTooLarge` (413), and
 * `invalid_argument` for a body that is not JSON of this shape.
 */
export async function jsonBody<Shape extends z.ZodType>(
  c: Context,
  shape: Shape,
  large?: LargeBody,
  whenEmpty = "",
): Promise<z.output<Shape>> {
  const text = await readText(c, large);
  let body: unknown;
  try {
    body = JSON.parse(text === "" ? whenEmpty : text);
  } catch (cause) {
    throw new Fault("invalid_argument", "the body is not JSON", { cause });
  }
  const parsed = shape.safeParse(body);
  const unknown = unknownKeys(shape, body);
  if (parsed.success && unknown.length === 0) return parsed.data;
  const issues = parsed.error?.issues.filter(({ code }) => code !== "unrecognized_keys") ?? [];
  throw new Fault(
    "invalid_argument",
    z.prettifyError({ issues: [...unknown.slice(0, mostListed).map(unknownKeyIssue), ...issues] }),
  );
}

/** Checks that a request has no options when its route has none: the body is empty, or `{}`. */
export async function noOptions(c: Context): Promise<void> {
  await jsonBody(c, NoOptions, undefined, "{}");
}

function unknownKeyIssue({ path, key, known }: UnknownKey): z.core.$ZodIssue {
  const may = known.length === 0 ? "there are no options here" : `known here: ${known.join(", ")}`;
  const message = `Unrecognized key: ${JSON.stringify(key.slice(0, 200))}; ${may}`;
  return { code: "unrecognized_keys", keys: [key], path: [...path], message };
}

/** Reads as a stream, because a chunked body states no length, and another may be longer than it states. */
async function readText(c: Context, large: LargeBody | undefined): Promise<string> {
  const requireSize = (bytes: number) => {
    if (bytes <= smallBytes) return;
    if (large === undefined) throw new BodyTooLarge(smallBytes);
    requireGrantSomewhere(principalOf(c), large.verb);
    if (bytes > large.bytes) throw new BodyTooLarge(large.bytes);
  };
  requireSize(Number(c.req.header("content-length") ?? 0));
  const { body } = c.req.raw;
  if (body === null) return "";
  const pieces: Uint8Array[] = [];
  const values = new JsonValueCount();
  let bytes = 0;
  for await (const piece of piecesInTurns(body, callerAddress(c))) {
    bytes += piece.byteLength;
    requireSize(bytes);
    if (values.add(piece) > mostValues) {
      throw new Fault("invalid_argument", `a body may have at most ${mostValues} JSON values`);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** Returns the owner of a request, so that connections that send at the same time take turns. */
function callerAddress(c: Context): string {
  const socket = (c.env as Partial<HttpBindings> | undefined)?.incoming?.socket;
  return socket === undefined ? "" : peerOf(socket);
}
