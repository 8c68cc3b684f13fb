import type { Command } from "commander";
import type { Describe } from "../command-list.ts";
import { answersJson, repeated, withExamples } from "../common-options.ts";
import type { InstallOptions, ScopeOptions } from "../service/run-service-commands.ts";
import { inSession } from "../session.ts";

/** `grange service`: services that systemd starts with the machine. */
export const describeService: Describe = (command, program) => {
  withScope(command.command("install"))
    .description("write systemd units, and start the services now and at each boot")
    .argument("[roles...]", "server, worker, granary (default: server and worker)")
    .option("--run-as <user>", "the user that runs services of the machine (default: grange)")
    .option("--server <url>", "the farm of a worker or granary (default: the farm on this machine)")
    .option("--token-file <file>", "a file that contains their token for this farm")
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
    .description("stop the services and remove their units; data and settings are kept")
    .argument("[roles...]", "server, worker, granary (default: those that are installed)")
    .action((roles: string[], options: ScopeOptions) =>
      inSession(options, async (session) => {
        const { runUninstall } = await import("../service/run-service-commands.ts");
        return runUninstall(roles, options, session);
      }),
    );
  withScope(command.command("status"))
    .description("show whether the services run; exit code 1 if an installed service does not run")
    .action((options: ScopeOptions) =>
      inSession(options, async (session) => {
        const { runStatus } = await import("../service/run-service-commands.ts");
        return runStatus(options, session);
      }),
    );
  withExamples(command, [
    ["install a server and a worker on this machine, as root", "service install"],
    [
      "install a worker for a farm on another machine",
      "service install worker --server https://farm:8980 --token-file token",
    ],
    [
      "install a granary for your own builds",
      "service install granary --user --server https://farm:8980",
    ],
    ["print what would be written", "service install --dry-run"],
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
