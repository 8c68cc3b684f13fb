import type { Command } from "commander";
import type { Describe } from "../command-list.ts";
import { answersJson, repeated, withExamples } from "../common-options.ts";
import type { InstallOptions, ScopeOptions } from "../service/run-service-commands.ts";
import { inSession } from "../session.ts";

/** `grange service`: services that systemd starts with the machine. */
export const describeService: Describe = (command, program) => {
  withScope(command.command("install"))
    .description("write units for systemd, and start the services now and with the machine")
    .argument("[roles...]", "server, worker, granary (default: server and worker)")
    .option("--run-as <user>", "the user of the machine's services (default: grange)")
    .option("--server <url>", "the farm of a worker or granary, when it is not this machine's")
    .option("--token-file <file>", "a file with the token by which that farm knows them")
    .option(
      "--env <name=value>",
      "a setting for their environment files; may be repeated",
      repeated,
    )
    .option("--dry-run", "print units and settings, and change nothing")
    .action((roles: string[], options: InstallOptions) =>
      inSession(withoutServer(options), async (session) => {
        const { runInstall } = await import("../service/run-service-commands.ts");
        return runInstall(roles, options, session, program.entry);
      }),
    );
  withScope(command.command("uninstall"))
    .description("stop the services and remove their units; data and settings stay")
    .argument("[roles...]", "server, worker, granary (default: those that are installed)")
    .action((roles: string[], options: ScopeOptions) =>
      inSession(options, async (session) => {
        const { runUninstall } = await import("../service/run-service-commands.ts");
        return runUninstall(roles, options, session);
      }),
    );
  withScope(command.command("status"))
    .description("show whether the services run; exit code 1 when one that is installed does not")
    .action((options: ScopeOptions) =>
      inSession(options, async (session) => {
        const { runStatus } = await import("../service/run-service-commands.ts");
        return runStatus(options, session);
      }),
    );
  withExamples(command, [
    ["a server and a worker of this machine, as root", "service install"],
    [
      "a worker for a farm elsewhere",
      "service install worker --server https://farm:8980 --token-file token",
    ],
    ["a granary for one's own builds", "service install granary --user --server https://farm:8980"],
    ["see first what would be written", "service install --dry-run"],
  ]);
};

function withScope(command: Command): Command {
  return answersJson(command)
    .option("--user", "services of this user (default, unless this is root)")
    .option("--system", "services of the machine; needs root");
}

/** The session's own server and token are not used here. */
function withoutServer({ json }: InstallOptions): { json?: boolean } {
  return json === undefined ? {} : { json };
}
