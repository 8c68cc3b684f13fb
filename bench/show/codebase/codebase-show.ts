import type { Show } from "../row.ts";
import { checkedRows, endpointRows, sizeRows } from "./code-rows.ts";
import { recipeRows } from "./recipe-rows.ts";

/** Whether a new developer can read and change the code, as far as this can be counted. */
export const codebaseShow: Show = {
  name: "codebase",
  measurements: [recipeRows, endpointRows, checkedRows, sizeRows],
};
