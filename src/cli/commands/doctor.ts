import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { type CommonOptions, inSession } from "../session.ts";

export const describeDoctor: Describe = (command, program) => {
  speaksToServer(command).action((options: CommonOptions) =>
    inSession(options, async (session) => {
      const { examine } = await import("../doctor/examine.ts");
      return examine(session, options, program.version);
    }),
  );
  withExamples(command, [
    ["what this machine offers a farm, and what to put right", "doctor"],
    [
      "only what is wrong, for a script",
      "doctor --json | jq '.checks[] | select(.status != \"ok\")'",
    ],
  ]);
};
