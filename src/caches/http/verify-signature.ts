import { Fault } from "#core/fault.ts";
import { type SignedArtifact, TurborepoSignature } from "../turborepo-signature.ts";

/** The secret in which a team gives the farm its key; Turborepo reads a variable of that name. */
export const signatureKeyName = "TURBO_REMOTE_CACHE_SIGNATURE_KEY";

/** Verifies an artifact while it is stored. */
interface SignatureCheck {
  /** Returns the same bytes, which are then part of the check. */
  through(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  /** Throws unless the signature matches. Call it after the last byte, before an entry refers to the bytes. */
  require(): void;
}

/**
 * Returns the check of an artifact in a project with keys, of which one must match.
 *
 * @throws Fault when the artifact cannot match: then nothing of it needs to be read
 */
export function signatureCheck(
  keys: readonly Uint8Array[],
  artifact: SignedArtifact,
  length: string | undefined,
  project: string,
): SignatureCheck {
  const { hash, tag } = artifact;
  const how = `build with \`"remoteCache": { "signature": true }\` in turbo.json and the key of ${project} in ${signatureKeyName}`;
  if (tag === undefined) {
    throw new Fault(
      "permission_denied",
      `artifact ${hash} is not signed, and ${project} accepts signed ones only: ${how}`,
    );
  }
  if (length === undefined) {
    throw new Fault(
      "invalid_argument",
      `artifact ${hash} comes without a content-length, which its signature covers`,
    );
  }
  const signatures = keys.map((key) => new TurborepoSignature(key, artifact, Number(length)));
  return {
    async *through(chunks) {
      for await (const chunk of chunks) {
        for (const signature of signatures) signature.add(chunk);
        yield chunk;
      }
    },
    require() {
      if (signatures.filter((signature) => signature.matches(tag)).length > 0) return;
      throw new Fault(
        "permission_denied",
        `the signature of artifact ${hash} does not match the key of ${project}: ${how}, with turbo 2.11 or newer`,
      );
    },
  };
}
