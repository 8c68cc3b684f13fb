import type { Show } from "../row.ts";
import { atRest } from "./at-rest.ts";
import { cloneAndStart, ownGraph } from "./clone-and-start.ts";
import { eachSandbox } from "./each-sandbox.ts";
import { initKinds } from "./init-kinds.ts";
import { installedPackages } from "./installed-packages.ts";
import { once } from "./once.ts";
import { packaged } from "./packaged.ts";
import { undeclaredInputs } from "./undeclared-inputs.ts";
import { wholeTestSuite } from "./whole-test-suite.ts";

/** The README's two commands, as a new user runs them. */
export const startShow: Show = {
  name: "start",
  measurements: [
    once,
    atRest,
    undeclaredInputs,
    cloneAndStart,
    installedPackages,
    packaged,
    initKinds,
    eachSandbox,
    ownGraph,
    wholeTestSuite,
  ],
};
