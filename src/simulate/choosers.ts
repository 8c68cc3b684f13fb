import { strategyOf } from "#size-classes/choose-strategy.ts";
import type { SizeClassSettings } from "#size-classes/settings.ts";
import { strategyNames } from "#size-classes/strategy.ts";
import { type Chooser, chooserOf } from "./chooser.ts";
import { oracle } from "./oracle.ts";

/** In the order of the tables. */
export const chooserNames = [...strategyNames, "oracle"] as const;
export type ChooserName = (typeof chooserNames)[number];

export function chooserNamed(name: ChooserName, settings: SizeClassSettings): Chooser {
  return name === "oracle"
    ? oracle(settings)
    : chooserOf(strategyOf({ ...settings, strategy: name }));
}
