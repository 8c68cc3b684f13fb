import type { Describe } from "../command-list.ts";
import { answersJson, withExamples } from "../common-options.ts";
import { type CommonOptions, inSession } from "../session.ts";

export const describeInit: Describe = (command) => {
  answersJson(command)
    .argument("[dir]", "the repository (default: the one you stand in)")
    .action((dir: string | undefined, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { writeStarter } = await import("../write-starter.ts");
        return writeStarter(session, dir ?? process.cwd(), options);
      }),
    );
  withExamples(command, [
    ["a start for the repository you stand in, written to .grange/farm.yml", "init"],
    ["a start for another one; then see what was found in it", "init ../other --json"],
  ]);
};
