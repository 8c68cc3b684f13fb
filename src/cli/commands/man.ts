import type { Describe } from "../command-list.ts";
import { withExamples } from "../common-options.ts";
import { exitCodes } from "../exit-code.ts";
import { inSession } from "../session.ts";

export const describeMan: Describe = (command, program) => {
  command
    .argument("[command]", "the command (default: grange itself)")
    .option("--write <dir>", "write all pages to a directory")
    .action((name: string | undefined, { write }: { readonly write?: string }) =>
      inSession({}, async ({ terminal }) => {
        const { allCommands } = await import("../command-facts.ts");
        const { manPage, programPage } = await import("../man/man-page.ts");
        const commands = await allCommands(program);
        const pages = new Map([
          ["grange", programPage(commands, program.version)],
          ...commands.map((each) => [each.name, manPage(each, program.version)] as const),
        ]);
        if (write !== undefined) {
          const { writePages } = await import("../man/write-pages.ts");
          await writePages(write, pages);
          return exitCodes.ok;
        }
        const page = pages.get(name ?? "grange");
        if (page !== undefined) {
          terminal.answer.line(page.trimEnd());
          return exitCodes.ok;
        }
        const { UsageError } = await import("../usage-error.ts");
        throw new UsageError(`there is no command ${name}; \`grange --help\` lists them`);
      }),
    );
  withExamples(command, [
    ["read the page of a command without installing it", "man retrigger | man -l -"],
    ["write all pages", "man --write /usr/local/share/man/man1"],
  ]);
};
