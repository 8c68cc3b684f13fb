import { Command } from "commander";
import { messageOf } from "#core/fault.ts";
import { exitCodes } from "./exit-code.ts";
import { describeThere } from "./ssh/there/commands-there.ts";
import { builtVersion, versionText } from "./version-text.ts";
import { type WorkOptions, withWorkOptions, workHere } from "./work-here.ts";

/** The entry of `grange-worker.mjs`: a worker in one file, with the commands to start and stop it on its machine. */
const program = new Command("grange-worker")
  .description("A worker of a Grange farm, in one file that needs Node and nothing else.")
  .version(versionText(builtVersion));
withWorkOptions(program).action((options: WorkOptions) => workHere(options, builtVersion));
describeThere(program);
try {
  await program.parseAsync();
} catch (reason) {
  process.stderr.write(`error: ${messageOf(reason)}\n`);
  process.exitCode = exitCodes.failed;
}
