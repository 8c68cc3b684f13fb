import type { Command } from "commander";
import type { Describe } from "../command-list.ts";
import { repeated, speaksToServer, withExamples } from "../common-options.ts";
import type { CommonOptions } from "../session.ts";
import type { SshOptions } from "../ssh/ssh-options.ts";
import { type WorkOptions, withWorkOptions, workHere } from "../work-here.ts";

type WorkerOptions = WorkOptions & Omit<SshOptions, "ssh"> & { readonly ssh?: readonly string[] };

export const describeWorker: Describe = (command, program) => {
  // So that `worker release NAME --server` means the option of `release`: each command with subcommands must enable
  // this.
  command.parent?.enablePositionalOptions();
  command.enablePositionalOptions();
  describeRelease(command);
  withWorkOptions(command)
    .option(
      "--ssh <host>",
      "start the worker on another machine, [user@]host[:port]; may be repeated",
      repeated,
    )
    .option("--stop", "with --ssh: stop the worker there")
    .option("--status", "with --ssh: show the worker there")
    .option("--tunnel", "with --ssh: connect it to the farm through ssh while this command runs")
    .option("--ssh-key <file>", "the private key for the connection")
    .option("--ssh-option <name=value>", "an option of ssh_config; may be repeated", repeated)
    .option(
      "--remote-directory <dir>",
      "the directory of the worker on the other machine, below the home of its user",
      ".cache/grange/worker-over-ssh",
    )
    .option("--remote-node <path>", "the path of Node on the other machine", "node")
    .action(async (options: WorkerOptions) => {
      const { ssh } = options;
      if (ssh === undefined) return workHere(options, program.version);
      if (options.enrol !== undefined) {
        command.error(
          "error: --enrol is for workers on this machine; with --ssh, use GRANGE_WORKER_TOKEN",
        );
      }
      const { inSession } = await import("../session.ts");
      return inSession(options, async (session) => {
        const { runSshWorkers } = await import("../ssh/run-ssh-workers.ts");
        return runSshWorkers({ ...options, ssh }, session, program.entry);
      });
    });
  withExamples(command, [
    ["start another worker for the farm on this machine", "worker --name spare"],
    [
      "run four jobs at the same time for a farm on another machine",
      "worker --server http://farm:8980 --slots 4",
    ],
    [
      "slots of size class 2 that give 2 CPUs and 4 GiB each, and no more",
      "worker --server http://farm:8980 --size-class 2 --slots 4 --cpus 2 --memory 4G",
    ],
    [
      "start a worker on a machine that has only Node, for a farm that it can reach",
      "worker --ssh build@attic --server http://farm:8980",
    ],
    ["the same for a farm that it cannot reach directly", "worker --ssh build@attic --tunnel"],
    ["cancel it", "worker --ssh build@attic --stop"],
    [
      "start a worker for a private farm, with an enrolment token from `grange token create NAME --enrol worker`",
      "worker --server https://farm:8980 --enrol token",
    ],
    ["release a worker from quarantine", "worker release attic"],
  ]);
};

function describeRelease(command: Command): void {
  speaksToServer(command.command("release <name>"))
    .description("release a worker from quarantine; give its name, or the name of its principal")
    .action(async (name: string, options: CommonOptions) => {
      const { answer, inSession } = await import("../session.ts");
      return inSession(options, async (session) => {
        const { enrolmentEndpoints } = await import("#api/endpoints/enrolment-endpoints.ts");
        const released = await session.api.call(enrolmentEndpoints.releaseWorker, {
          params: { name },
        });
        return answer(session, options, released, () => [`${released.principal} may work again.`]);
      });
    });
}
