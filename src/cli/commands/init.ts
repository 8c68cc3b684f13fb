import { Option } from "commander";
import type { Describe } from "../command-list.ts";
import { answersJson, withExamples } from "../common-options.ts";
import type { InitOptions } from "../init/init-repository.ts";
import { inSession } from "../session.ts";

export const describeInit: Describe = (command) => {
  answersJson(command)
    .argument("[dir]", "the repository (default: the current one)")
    .addOption(
      new Option(
        "--from <source>",
        "what the jobs are made from: build files, .github/workflows, or both",
      )
        .choices(["auto", "files", "workflows"])
        .default("auto"),
    )
    .option("--force", "overwrite existing definitions")
    .option("--dry-run", "print what would be written, and write nothing")
    .action((dir: string | undefined, options: InitOptions) =>
      inSession(options, async (session) => {
        const { initRepository } = await import("../init/init-repository.ts");
        return initRepository(session, dir ?? process.cwd(), options);
      }),
    );
  withExamples(command, [
    ["write first definitions for the current repository to .grange/", "init"],
    ["print what would be written for another repository", "init ../other --dry-run"],
    [
      "only jobs of .github/workflows, overwriting the files of an earlier init",
      "init --from workflows --force",
    ],
  ]);
};
