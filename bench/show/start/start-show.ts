import type { Show } from "../row.ts";
import { cloneAndStart, ownGraph } from "./clone-and-start.ts";
import { installedPackages } from "./installed-packages.ts";
import { packaged } from "./packaged.ts";
import { wholeTestSuite } from "./whole-test-suite.ts";

/** The README's two commands, as somebody meets them who has just heard of Grange. */
export const startShow: Show = {
  name: "start",
  measurements: [cloneAndStart, installedPackages, packaged, ownGraph, wholeTestSuite],
};
