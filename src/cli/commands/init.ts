import { Option } from "commander";
import type { Describe } from "../command-list.ts";
import { answersJson, withExamples } from "../common-options.ts";
import type { InitOptions } from "../init/init-repository.ts";
import { inSession } from "../session.ts";

export const describeInit: Describe = (command) => {
  answersJson(command)
    .argument("[dir]", "the repository (default: the one you stand in)")
    .addOption(
      new Option(
        "--from <source>",
        "what the jobs are made from: build files, .github/workflows, or both",
      )
        .choices(["auto", "files", "workflows"])
        .default("auto"),
    )
    .option("--force", "write over definitions that are there")
    .option("--dry-run", "print what would be written, and write nothing")
    .action((dir: string | undefined, options: InitOptions) =>
      inSession(options, async (session) => {
        const { initRepository } = await import("../init/init-repository.ts");
        return initRepository(session, dir ?? process.cwd(), options);
      }),
    );
  withExamples(command, [
    ["first definitions for the repository you stand in, written to .grange/", "init"],
    ["see first what would be written for another one", "init ../other --dry-run"],
    [
      "jobs of .github/workflows alone, over what an earlier init wrote",
      "init --from workflows --force",
    ],
  ]);
};
