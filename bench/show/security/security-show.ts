import type { Show } from "../row.ts";
import { fuzzing, longFuzzing } from "./fuzzing.ts";
import { poisonedCaches } from "./poisoned-caches.ts";

/** What principals may read and change, tried by those who may not. */
export const securityShow: Show = {
  name: "security",
  measurements: [poisonedCaches, fuzzing, longFuzzing],
};
