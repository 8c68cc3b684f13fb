import { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Attributes, EntryName, Lookup } from "../tool-rules.ts";
import type { SignedArtifact } from "../turborepo-signature.ts";
import type { Exchange } from "./carry-out.ts";
import { bodyOf } from "./read-body.ts";
import { signatureCheck } from "./verify-signature.ts";

type Write = Extract<Lookup, { kind: "write" }>;

/** Stores an entry's bytes and the entry. Durable when it resolves. */
export async function takeEntry(
  exchange: Exchange,
  entry: EntryName & { readonly domain: TrustDomain; readonly attributes: Attributes },
  { again, signed }: Pick<Write, "again" | "signed">,
): Promise<void> {
  const { caches, principal } = exchange;
  // Checked before the body is read, because the body may be large.
  if (again === "refuse") await refuseRewrite(exchange, entry);
  const check = signed && (await checkOf(exchange, signed));
  const body = await admittedBody(exchange);
  const digest = await caches.take(entry.project, check?.through(body) ?? body);
  check?.require();
  if ((await caches.keep({ ...entry, digest, principal }, again)) === "refused") throw isThere();
}

async function checkOf({ signatureKeys, project, request }: Exchange, signed: SignedArtifact) {
  const keys = await signatureKeys(project);
  if (keys.length === 0) return undefined;
  return signatureCheck(keys, signed, request.headers["content-length"], project);
}

/** An entry of `protected` is never hidden by one of the same name in another domain. */
async function refuseRewrite({ caches, domain }: Exchange, name: EntryName): Promise<void> {
  const first = await caches.find({ ...name, reader: domain });
  if (first !== undefined && (await caches.valueOf(first, { headOnly: true }))) throw isThere();
}

function isThere(): Fault {
  return new Fault("already_exists", "the entry already exists, and entries are never overwritten");
}

/** Stores a blob, which must match its hash. */
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

/**
 * Returns the bytes of an entry. They are counted before they are read if the client announces their number, otherwise
 * as they arrive.
 */
async function admittedBody(exchange: Exchange): Promise<AsyncIterable<Uint8Array>> {
  const length = exchange.request.headers["content-length"];
  if (length === undefined) return admitting(exchange, bodyOf(exchange, exchange.mostEntryBytes));
  // A body above the limit for entries gets the error for that instead.
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
