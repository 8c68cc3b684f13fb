import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { messageOf } from "#core/fault.ts";
import type { Program } from "./command-list.ts";
import { describeExec } from "./commands/exec.ts";
import { describeGoCacheProg } from "./commands/gocacheprog.ts";
import { describeGranary } from "./commands/granary.ts";
import { exitCodes } from "./exit-code.ts";
import { builtVersion, versionText } from "./version-text.ts";

/** The entry of `grange-granary.mjs`: `grange granary`, `grange exec` and `grange gocacheprog` in one file. */
const grangeGranary = new Command("grange-granary")
  .description("A machine's cache of a Grange farm, in one file that needs Node and Git.")
  .version(versionText(builtVersion));
const program: Program = { entry: fileURLToPath(import.meta.url), version: builtVersion };
describeGranary(
  grangeGranary.command("granary", { isDefault: true }).description("run this machine's cache"),
  program,
);
describeExec(
  grangeGranary.command("exec").description("run a build with this machine's cache"),
  program,
);
describeGoCacheProg(
  grangeGranary.command("gocacheprog").description("share the build cache of Go"),
  program,
);
try {
  await grangeGranary.parseAsync();
} catch (reason) {
  process.stderr.write(`error: ${messageOf(reason)}\n`);
  process.exitCode = exitCodes.failed;
}
