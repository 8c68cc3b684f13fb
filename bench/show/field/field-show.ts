import type { Show } from "../row.ts";
import { casSpeed } from "./cas-speed.ts";
import { ccacheSpeed, sccacheSpeed } from "./compiler-cache.ts";
import { executionSpeed } from "./execution-speed.ts";

/** Grange beside other programs of its field: each figure in the same run, by turns. */
export const fieldShow: Show = {
  name: "field",
  measurements: [casSpeed, executionSpeed, ccacheSpeed, sccacheSpeed],
};
