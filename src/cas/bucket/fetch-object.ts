import type { FairGate } from "#core/fair-gate.ts";
import { Fault } from "#core/fault.ts";
import type { ByteSpan } from "../byte-span.ts";
import type { S3Bucket } from "./s3-bucket.ts";
import { partBytes } from "./send-object.ts";

/** Parts of one object that are fetched at the same time. */
const partsAtOnce = 4;

/**
 * Yields a span of an object in order. Several parts are fetched at the same time, and each is repeated by itself when
 * its connection breaks. Throws `not_found` when the object is absent.
 */
export async function* fetchObject(
  { bucket, gate }: { readonly bucket: S3Bucket; readonly gate: FairGate },
  key: string,
  { start, end }: ByteSpan,
): AsyncGenerator<Uint8Array, void, undefined> {
  const fetchPart = async (at: number): Promise<Uint8Array> => {
    const range = { start: at, length: Math.min(partBytes, end - at) };
    const bytes = await gate.through(key, () => bucket.get(key, range));
    if (bytes === undefined) throw new Fault("not_found", `${bucket.place} has no object ${key}`);
    return bytes;
  };
  const coming: Promise<Uint8Array>[] = [];
  let next = start;
  const ask = () => {
    if (next >= end) return;
    const part = fetchPart(next);
    // When an earlier part fails, nobody waits for this one.
    part.catch(() => {});
    coming.push(part);
    next += partBytes;
  };
  for (let i = 0; i < partsAtOnce; i++) ask();
  try {
    for (;;) {
      const part = coming.shift();
      if (part === undefined) return;
      const bytes = await part;
      ask();
      yield bytes;
    }
  } finally {
    await Promise.allSettled(coming);
  }
}
