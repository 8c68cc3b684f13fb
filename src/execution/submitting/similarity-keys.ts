import { createHash } from "node:crypto";
import { type Digest, digestKey } from "#core/digest.ts";
import { type Platform, platformKey, requirementsOf } from "#core/platform.ts";

/** The properties of an action that are used to find similar actions, if the client states them. */
export interface ActionTraits {
  readonly commandDigest: Digest;
  readonly platform: Platform;
  /** REv2's RequestMetadata; empty when the client sends none. */
  readonly target: string;
  readonly mnemonic: string;
  readonly configuration: string;
}

/**
 * Returns the keys of similar executions, from the most to the least similar.
 *
 * First, the same command on the same platform with any inputs: Buildbarn's reduced action. Then the same kind of
 * action of the same target in the same configuration, then any action of its kind, then all with the same
 * requirements. The first letter of a key identifies the level.
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
