import { farmTargets } from "./farm-targets.ts";
import type { FuzzTarget } from "./fuzz.ts";
import { imageTargets } from "./image-targets.ts";
import { protocolTargets } from "./protocol-targets.ts";
import { textTargets } from "./text-targets.ts";

/** All parsers of untrusted bytes. Call `end` of each after use. */
export async function allTargets(): Promise<FuzzTarget[]> {
  return [...(await protocolTargets()), ...textTargets(), ...imageTargets(), ...farmTargets()];
}
