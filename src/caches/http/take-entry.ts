import { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { Attributes, EntryName } from "../tool-rules.ts";
import type { Exchange } from "./carry-out.ts";
import { bodyOf } from "./read-body.ts";

/** Takes in an entry's bytes and names them. Durable when it resolves. */
export async function takeEntry(
  exchange: Exchange,
  entry: EntryName & { readonly attributes: Attributes },
  again: "replace" | "refuse",
): Promise<void> {
  const { caches, principal } = exchange;
  // Before the body: it may be large, and for nothing.
  if (again === "refuse") await refuseRewrite(exchange, entry);
  const digest = await caches.take(entry.project, await admittedBody(exchange));
  if ((await caches.keep({ ...entry, digest, principal }, again)) === "refused") throw isThere();
}

async function refuseRewrite({ caches }: Exchange, name: EntryName): Promise<void> {
  const first = await caches.find(name);
  if (first !== undefined && (await caches.valueOf(first, { headOnly: true }))) throw isThere();
}

function isThere(): Fault {
  return new Fault("already_exists", "there is such an entry, and it is never overwritten");
}

/** Takes in a blob, which must be what its hash says. */
export async function takeBlob(exchange: Exchange, hash: string): Promise<void> {
  const { caches, project, request } = exchange;
  const length = request.headers["content-length"];
  if (length !== undefined) {
    const digest = Digest.parse({ hash, sizeBytes: Number(length) });
    return caches.takeAs(project, digest, await admittedBody(exchange));
  }
  const digest = await caches.take(project, await admittedBody(exchange));
  if (digest.hash !== hash) {
    throw new Fault("invalid_argument", `the bytes are ${digest.hash}, not ${hash}`);
  }
}

/** The bytes of an entry, counted before they are read when the client says how many they are, else as they come. */
async function admittedBody(exchange: Exchange): Promise<AsyncIterable<Uint8Array>> {
  const length = exchange.request.headers["content-length"];
  if (length === undefined) return admitting(exchange, bodyOf(exchange, exchange.mostEntryBytes));
  // One that is too large for any entry is refused as that.
  if (Number(length) <= exchange.mostEntryBytes) await exchange.admit(Number(length));
  return bodyOf(exchange, exchange.mostEntryBytes);
}

async function* admitting(
  { admit }: Exchange,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    await admit(chunk.byteLength);
    yield chunk;
  }
}
