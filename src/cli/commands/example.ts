import type { Describe } from "../command-list.ts";
import { answersJson, withExamples } from "../common-options.ts";
import type { ExampleOptions } from "../example/run-example.ts";
import { inSession } from "../session.ts";
import { wholeNumber } from "../whole-number.ts";

export const describeExample: Describe = (command) => {
  answersJson(command)
    .argument(
      "[package]",
      "an npm package that contains its TypeScript sources (default: a small project of six commits, created without the network)",
    )
    .option("--versions <n>", "the number of newest versions", wholeNumber, 8)
    .option("--prereleases", "also nightlies and release candidates")
    .option(
      "--out <dir>",
      "the directory of the new repository (default: ./<package>, or ./concordance)",
    )
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
    [
      "three releases of another package, in another directory",
      "example @noble/curves --versions 3 --out /tmp/curves",
    ],
  ]);
};
