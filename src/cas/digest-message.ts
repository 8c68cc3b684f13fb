import { create } from "@bufbuild/protobuf";
import { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import {
  type Digest as DigestMessage,
  DigestSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** A digest as REv2 writes it. */
export function toDigestMessage(digest: Digest): DigestMessage {
  return create(DigestSchema, { hash: digest.hash, sizeBytes: BigInt(digest.sizeBytes) });
}

/** Takes in a digest from REv2. `whose` begins the sentence that refuses a wrong or absent one. */
export function fromDigestMessage(message: DigestMessage | undefined, whose: string): Digest {
  if (message === undefined) throw new Fault("invalid_argument", `${whose} has no digest`);
  const parsed = Digest.safeParse({ hash: message.hash, sizeBytes: Number(message.sizeBytes) });
  if (parsed.success) return parsed.data;
  const problem = parsed.error.issues[0]?.message ?? "it is malformed";
  throw new Fault("invalid_argument", `${whose} has no valid digest: ${problem}`);
}
