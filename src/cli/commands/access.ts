import { Argument, type Command } from "commander";
import { AccessSetting } from "#core/access-setting.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";

/** `grange access`: what callers without a token may do. */
export const describeAccess: Describe = (command) => {
  addShow(command);
  addSet(command);
  withExamples(command, [
    ["what callers without a token may do", "access show"],
    ["nobody reads without a right", "access set private"],
    ["all read, and only principals with grants change something", "access set public"],
  ]);
};

function addShow(command: Command): void {
  speaksToServer(command.command("show"))
    .description("say whether the farm is open, public or private")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { access } = await session.api.server();
        return answer(session, options, { access }, () => [accessLine(access)]);
      }),
    );
}

function addSet(command: Command): void {
  speaksToServer(command.command("set"))
    .addArgument(
      new Argument("<setting>", "open, public or private").choices(AccessSetting.options),
    )
    .description("replace the grants of `anyone` by those of a setting")
    .action((setting: AccessSetting, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { accessEndpoints } = await import("#api/endpoints/access-endpoints.ts");
        const { access } = await session.api.call(accessEndpoints.setFarmAccess, {
          body: { access: setting },
        });
        return answer(session, options, { access }, () => [accessLine(access)]);
      }),
    );
}

/** Returns what a setting means, in one sentence. */
function accessLine(access: AccessSetting): string {
  switch (access) {
    case "open":
      return "The farm is open: all who reach it may do everything.";
    case "public":
      return "The farm is public: all who reach it may read, and changes need a right.";
    case "private":
      return "The farm is private: reading needs a right, too.";
  }
}
