import { z } from "zod";
import type { FarmKey } from "../farm-key.ts";

const inTotoType = "application/vnd.in-toto+json";

/** A DSSE envelope (github.com/secure-systems-lab/dsse, protocol 1): the signed content and the keys that signed it. */
const Envelope = z.object({
  payloadType: z.string(),
  payload: z.base64(),
  signatures: z.array(z.object({ keyid: z.string(), sig: z.base64() })).min(1),
});
type Envelope = z.infer<typeof Envelope>;

/** Returns the bytes that are signed: type and body with their lengths, so that only one reading is possible. */
function preAuthEncoding(type: string, body: Uint8Array): Uint8Array {
  const typeBytes = Buffer.from(type);
  return Buffer.concat([
    Buffer.from(`DSSEv1 ${typeBytes.byteLength} `),
    typeBytes,
    Buffer.from(` ${body.byteLength} `),
    body,
  ]);
}

export function sealEnvelope(key: Pick<FarmKey, "id" | "sign">, statement: object): Envelope {
  const body = Buffer.from(JSON.stringify(statement));
  const signature = key.sign(preAuthEncoding(inTotoType, body));
  return {
    payloadType: inTotoType,
    payload: body.toString("base64"),
    signatures: [{ keyid: key.id, sig: Buffer.from(signature).toString("base64") }],
  };
}

/** Returns the content of an envelope if a key that `verify` knows has signed it; undefined otherwise. */
export function openEnvelope(
  verify: FarmKey["verify"],
  { payloadType, payload, signatures }: Envelope,
): unknown {
  if (payloadType !== inTotoType) return undefined;
  const body = Buffer.from(payload, "base64");
  const signed = preAuthEncoding(payloadType, body);
  const isSigned = signatures.some(({ keyid, sig }) =>
    verify(keyid, signed, Buffer.from(sig, "base64")),
  );
  // Parsed only after verification: unsigned bytes are not trusted.
  return isSigned ? (JSON.parse(body.toString()) as unknown) : undefined;
}
