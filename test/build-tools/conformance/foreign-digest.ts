import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { blake3 } from "hash-wasm";
import {
  DigestFunction_Value as By,
  type Digest,
  DigestSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** Computes a digest as a client does, independently of the farm's code for blob names. */
export async function digestBy(by: By, bytes: Uint8Array): Promise<Digest> {
  return create(DigestSchema, {
    hash: await hashBy(by, bytes),
    sizeBytes: BigInt(bytes.byteLength),
  });
}

async function hashBy(by: By, bytes: Uint8Array): Promise<string> {
  return by === By.BLAKE3
    ? blake3(bytes)
    : createHash(functionName(by)).update(bytes).digest("hex");
}

/** Without a function, SHA-256 is meant, as with most clients. */
export function functionName(by: By): string {
  const [name] = Object.entries(By).find(([, value]) => value === by) ?? [];
  return name === undefined || by === By.UNKNOWN ? "SHA256" : name;
}

export const bytesOf = (text: string): Uint8Array => Buffer.from(text);
export const textOf = (bytes: Uint8Array | undefined): string =>
  Buffer.from(bytes ?? []).toString();
export const nameOf = ({ hash, sizeBytes }: Digest): string => `${hash}/${sizeBytes}`;
