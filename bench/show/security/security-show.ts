import type { Show } from "../row.ts";
import { abusers } from "./abusers.ts";
import { fuzzing, longFuzzing } from "./fuzzing.ts";
import { poisonedCaches } from "./poisoned-caches.ts";
import { sandboxAttacks } from "./sandbox-attacks.ts";

/** What principals may read and change, tried by those who may not. */
export const securityShow: Show = {
  name: "security",
  measurements: [poisonedCaches, sandboxAttacks, abusers, fuzzing, longFuzzing],
};
