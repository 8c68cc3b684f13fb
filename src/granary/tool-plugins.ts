import { dunePlugin } from "./dune/dune-plugin.ts";
import type { ToolPlugin } from "./tool-plugin.ts";

/** The build tools that the granary serves by a protocol of their own. */
export const toolPlugins: readonly ToolPlugin[] = [dunePlugin];
