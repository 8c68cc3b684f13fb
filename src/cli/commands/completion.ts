import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Argument } from "commander";
import type { Describe, Program } from "../command-list.ts";
import { withExamples } from "../common-options.ts";
import { type Shell, shells } from "../completion/shells.ts";
import { inSession } from "../session.ts";

export const describeCompletion: Describe = (command, program) => {
  command
    .addArgument(new Argument("<shell>", "the shell").choices(shells))
    .action((shell: Shell) => {
      const built = builtScript(program, shell);
      if (built !== undefined) {
        process.stdout.write(built);
        return;
      }
      return inSession({}, async ({ terminal }) => {
        const { allCommands } = await import("../command-facts.ts");
        const { completionScript } = await import("../completion/completion-script.ts");
        terminal.answer.line(completionScript(shell, await allCommands(program)).trimEnd());
        return 0;
      });
    });
  withExamples(command, [
    ['in ~/.bashrc: eval "$(grange completion bash)"', "completion bash"],
    ['in ~/.zshrc: eval "$(grange completion zsh)"', "completion zsh"],
    ["once", "completion fish > ~/.config/fish/completions/grange.fish"],
  ]);
};

/**
 * Returns the script that the build has written beside the program; undefined where the sources run.
 *
 * A shell reads it at each start, and to load the descriptions of all commands takes 200 ms.
 */
function builtScript({ entry }: Program, shell: Shell): string | undefined {
  try {
    return gunzipSync(
      readFileSync(join(entry, "..", "completion", `grange.${shell}.gz`)),
    ).toString();
  } catch {
    return undefined;
  }
}
