import type { Describe } from "../command-list.ts";
import { answersJson, withExamples } from "../common-options.ts";
import type { ExampleOptions } from "../example/run-example.ts";
import { inSession } from "../session.ts";
import { wholeNumber } from "../whole-number.ts";

export const describeExample: Describe = (command) => {
  answersJson(command)
    .argument(
      "[package]",
      "an npm package that ships its TypeScript sources (default: a small project of six commits, made without the network)",
    )
    .option("--versions <n>", "how many of its newest versions", wholeNumber, 8)
    .option("--prereleases", "nightlies and release candidates, too")
    .option("--out <dir>", "where to make the repository (default: ./<package>, or ./concordance)")
    .action((name: string | undefined, options: ExampleOptions) =>
      inSession(options, async (session) => {
        const { runDemoExample, runExample } = await import("../example/run-example.ts");
        return name === undefined
          ? runDemoExample(session, options)
          : runExample(session, name, options);
      }),
    );
  withExamples(command, [
    ["the project of the demo, in ./concordance", "example"],
    ["the eight newest releases of rxjs, in ./rxjs", "example rxjs"],
    ["three of another package, elsewhere", "example @noble/curves --versions 3 --out /tmp/curves"],
  ]);
};
