import { Argument } from "commander";
import type { Describe } from "../command-list.ts";
import { withExamples } from "../common-options.ts";
import { type Shell, shells } from "../completion/completion-script.ts";
import { inSession } from "../session.ts";

export const describeCompletion: Describe = (command, program) => {
  command.addArgument(new Argument("<shell>", "the shell").choices(shells)).action((shell: Shell) =>
    inSession({}, async ({ terminal }) => {
      const { allCommands } = await import("../command-facts.ts");
      const { completionScript } = await import("../completion/completion-script.ts");
      terminal.answer.line(completionScript(shell, await allCommands(program)).trimEnd());
      return 0;
    }),
  );
  withExamples(command, [
    ['in ~/.bashrc: eval "$(grange completion bash)"', "completion bash"],
    ['in ~/.zshrc: eval "$(grange completion zsh)"', "completion zsh"],
    ["once", "completion fish > ~/.config/fish/completions/grange.fish"],
  ]);
};
