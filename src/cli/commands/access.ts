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
    ["show what callers without a token may do", "access show"],
    ["reading needs a right", "access set private"],
    ["anyone may read; changes need a right", "access set public"],
  ]);
};

function addShow(command: Command): void {
  speaksToServer(command.command("show"))
    .description("show whether the farm is open, public or private")
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
    .description("set what callers without a token (`anyone`) may do")
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
      return "The farm is open: anyone who can reach it may do everything.";
    case "public":
      return "The farm is public: anyone who can reach it may read; changes need a right.";
    case "private":
      return "The farm is private: reading needs a right.";
  }
}
