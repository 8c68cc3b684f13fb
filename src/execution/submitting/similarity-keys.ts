import { createHash } from "node:crypto";
import { type Digest, digestKey } from "#core/digest.ts";
import { type Platform, platformKey, requirementsOf } from "#core/platform.ts";

/** The properties of an action by which similar actions are found, as far as a client states them. */
export interface ActionTraits {
  readonly commandDigest: Digest;
  readonly platform: Platform;
  /** REv2's RequestMetadata; empty where the client sends none. */
  readonly target: string;
  readonly mnemonic: string;
  readonly configuration: string;
}

/**
 * The names under which to look for executions like this one, from the most to the least alike.
 *
 * First the same command on the same platform, whatever its inputs: Buildbarn's reduced action. Then
 * the same kind of action of the same target in the same configuration, then any of its kind, then all that
 * asks for the same. The first letter of a name says which of these it is.
 */
export function similarityKeysOf(traits: ActionTraits): string[] {
  const { commandDigest, platform, target, mnemonic, configuration } = traits;
  const platformText = platformKey(requirementsOf(platform));
  const similarityKeys = [`a.${shortHash(digestKey(commandDigest), platformKey(platform))}`];
  if (mnemonic !== "" && target !== "")
    similarityKeys.push(`t.${shortHash(mnemonic, target, configuration, platformText)}`);
  if (mnemonic !== "") similarityKeys.push(`m.${shortHash(mnemonic, platformText)}`);
  similarityKeys.push(`p.${shortHash(platformText)}`);
  return similarityKeys;
}

/** 96 bits: far from any collision, and short in every row. */
function shortHash(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 16);
}
