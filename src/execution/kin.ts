import { createHash } from "node:crypto";
import { type Digest, digestKey } from "#core/digest.ts";
import { type Platform, platformKey } from "#core/platform.ts";

/** What an action is like, as far as a client says. */
export interface ActionTraits {
  readonly commandDigest: Digest;
  readonly platform: Platform;
  /** REv2's RequestMetadata; empty where the client sends none. */
  readonly target: string;
  readonly mnemonic: string;
}

/**
 * The names under which to look for executions like this one, from the most to the least alike.
 *
 * First the same command on the same platform, whatever its inputs: Buildbarn's reduced action. Then
 * the same kind of action of the same target, then any of its kind.
 */
export function kinOf({ commandDigest, platform, target, mnemonic }: ActionTraits): string[] {
  const kin = [shortHash("command", digestKey(commandDigest), platformKey(platform))];
  if (mnemonic !== "" && target !== "") kin.push(shortHash("target", mnemonic, target));
  if (mnemonic !== "") kin.push(shortHash("mnemonic", mnemonic));
  return kin;
}

/** 96 bits: far from any collision, and short in every row. */
function shortHash(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 16);
}
