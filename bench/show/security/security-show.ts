import type { Show } from "../row.ts";
import { abusers } from "./abusers.ts";
import { costOfReading } from "./cost-of-reading.ts";
import { documentedAnswers } from "./documented-answers.ts";
import { endpointsByPrincipals } from "./endpoints-by-principals.ts";
import { fuzzing, longFuzzing } from "./fuzzing.ts";
import { poisonedCaches } from "./poisoned-caches.ts";
import { sandboxAttacks } from "./sandbox-attacks.ts";
import { twoPrivateProjects } from "./two-private-projects.ts";

/** What principals may read and change, tried by those who may not. */
export const securityShow: Show = {
  name: "security",
  measurements: [
    endpointsByPrincipals,
    twoPrivateProjects,
    costOfReading,
    poisonedCaches,
    sandboxAttacks,
    abusers,
    documentedAnswers,
    fuzzing,
    longFuzzing,
  ],
};
