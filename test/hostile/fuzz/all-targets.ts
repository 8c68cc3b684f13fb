import { keptInputs } from "./corpus.ts";
import { farmTargets } from "./farm-targets.ts";
import type { FuzzTarget } from "./fuzz.ts";
import { imageTargets } from "./image-targets.ts";
import { protocolTargets } from "./protocol-targets.ts";
import { signatureTargets } from "./signature-targets.ts";
import { textTargets } from "./text-targets.ts";
import { transferTargets } from "./transfer-targets.ts";

/** All parsers of untrusted bytes, with the inputs that earlier runs found. Call `end` of each after use. */
export async function allTargets(): Promise<FuzzTarget[]> {
  const targets = await targetsWithoutCorpus();
  return targets.map((target) => ({
    ...target,
    seeds: [...target.seeds, ...keptInputs(target.name)],
  }));
}

export async function targetsWithoutCorpus(): Promise<FuzzTarget[]> {
  return [
    ...(await protocolTargets()),
    ...transferTargets(),
    ...textTargets(),
    ...imageTargets(),
    ...signatureTargets(),
    ...farmTargets(),
  ];
}
