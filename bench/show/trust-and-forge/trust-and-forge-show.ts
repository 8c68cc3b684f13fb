import type { Show } from "../row.ts";
import { hostileInputs } from "./hostile-inputs.ts";
import { tokenChecks } from "./token-checks.ts";
import { twoThousandEvents } from "./two-thousand-events.ts";

/** Rights, and pull requests. */
export const trustAndForgeShow: Show = {
  name: "trust-and-forge",
  measurements: [hostileInputs, tokenChecks, twoThousandEvents],
};
