import { z } from "zod";
import { strategyNames } from "./strategy.ts";

/** The settings for choosing size classes, described in plain words because people set them. */
export const SizeClassSettings = z.object({
  strategy: z.enum(strategyNames).default("grange"),
  /**
   * The price of an hour of waiting, in hours of a slot of size class 1. `grange` only.
   *
   * With 3, class 8 is worth its price from (8 + 3) / (1 + 3) = 2.75 times the speed of class 1; the exponent 0.5 of the
   * original design gives 2.83.
   */
  priceOfDelay: z.number().nonnegative().default(3),
  /** Whether an idle larger class takes executions for which a smaller one was chosen. `grange` only. */
  greaterMayTake: z.boolean().default(true),
  /** The exponent x of the original design: 0.2 to 0.8. `adr` and `pagerank`. */
  acceptableIncreaseExponent: z.number().min(0).max(1).default(0.5),
  /** The seed's multiplier of the acceptable time. */
  timeoutMultiplier: z.number().min(1).default(1.5),
  /** The seed's minimum acceptable time (`adr`), Buildbarn's minimum timeout (`pagerank`). */
  minimumAcceptableMs: z.number().positive().default(10_000),
  /** How long a key that failed on the largest class runs only there; with `grange`, how long such failures count. */
  failureBoostMs: z
    .number()
    .nonnegative()
    .default(24 * 60 * 60_000),
  /** The error at which the power iteration has converged. `pagerank`. */
  convergenceError: z.number().positive().default(0.002),
  /** The maximum number of waiting background runs per class. `pagerank`. */
  mostBackgroundRuns: z.number().int().nonnegative().default(1_000),
});
export type SizeClassSettings = z.infer<typeof SizeClassSettings>;
export const defaultSettings: SizeClassSettings = SizeClassSettings.parse({});
