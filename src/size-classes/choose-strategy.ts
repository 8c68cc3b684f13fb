import type { SizeClassSettings } from "./settings.ts";
import { adrStrategy } from "./strategies/adr.ts";
import { grangeStrategy } from "./strategies/grange.ts";
import { largestStrategy } from "./strategies/largest.ts";
import { pagerankStrategy } from "./strategies/pagerank.ts";
import { smallestStrategy } from "./strategies/smallest.ts";
import type { Strategy } from "./strategy.ts";

/** Returns the strategy that a farm's settings name. */
export function strategyOf(settings: SizeClassSettings): Strategy {
  switch (settings.strategy) {
    case "smallest":
      return smallestStrategy;
    case "largest":
      return largestStrategy;
    case "adr":
      return adrStrategy(settings);
    case "pagerank":
      return pagerankStrategy(settings);
    case "grange":
      return grangeStrategy(settings);
  }
}
